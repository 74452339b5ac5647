// Counts of what kernels do, from traces of their threads: see profile.py, which adds the tracing to translated PTX.
//
// A thread writes down the basic blocks that it enters and the addresses that it accesses.  The threads of a warp are then
// replayed together: those at the lowest block run, whoever is at the same block runs with them, so that lanes that have
// parted meet again where their ways join.  Warps of a block follow each other between barriers.  As many thread blocks
// as fit the device (threads, shared memory, 32 a multiprocessor; registers are not known) take turns at the second
// cache: sectors of 32 bytes, 16 ways, the least recently used goes.  A sector that is only written is not fetched, and
// is written back whole.  The first cache is not modeled: every access of a warp asks the second one for its sectors.
#pragma once
#include <cstdint>
#include <cstdio>
#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

#include "device.h"

namespace profile {
constexpr int WAYS = 16, TURN = 32;  // sectors that a thread block asks for in its turn
constexpr size_t LONG = 1 << 16;     // events of a thread, from which on a trace is replayed at the next collective

struct Site { uint64_t count, units, least, worst, shared; };  // of an access: sectors and used bytes, or passes and how many at least
struct Launch {
    std::string name;
    const emu::Basic* basics = nullptr;
    uint64_t blocks = 0, threads = 0, warps = 0, barriers = 0, hits = 0, misses = 0, read = 0, written = 0, used = 0;
    uint64_t branches = 0, divergent = 0, atomics = 0, addresses = 0, contended = 0;
    std::vector<uint64_t> by_warp, by_thread, split;  // of every basic block: entered, and left on several ways
    std::vector<Site> sites;                          // of every access
};
struct Request { uint64_t sector; uint32_t bytes, kind; };  // kind: 1 reads, 2 writes, 3 both
struct Sector { uint64_t tag; uint32_t there, read, dirty, reader, writer; };  // bytes that are valid, were fetched and read, were written; launches

bool on = false;
std::deque<Launch> launches;
std::vector<emu::Trace> traces;
std::vector<std::vector<Sector>> sets;
std::vector<std::vector<Request>> resident;
std::vector<size_t> position;
std::vector<Request> stream;  // of the running thread block
std::unordered_map<uint64_t, uint64_t> atomics;
size_t room = 1;
char *shared_low, *shared_high, *stack_low, *stack_high;

inline void grow(emu::Trace* t) {
    size_t used = t->at - t->begin, size = used ? 2 * used : 1024;
    t->begin = (uint64_t*)realloc(t->begin, 8 * size); t->at = t->begin + used; t->end = t->begin + size;
}
inline int bits(uint32_t x) { return __builtin_popcount(x); }

// ---------------------------------------------------------------- the second cache
inline void evict(const Sector& s) {
    if (s.read) launches[s.reader].used += bits(s.read);
    if (s.dirty) { launches[s.writer].used += bits(s.dirty); launches[s.writer].written += 32; }
}
inline void request(const Request& r, uint32_t owner) {
    uint64_t hash = r.sector * 0x9E3779B97F4A7C15ull; auto& set = sets[(hash >> 24) % sets.size()]; Launch& l = launches[owner];
    size_t i = 0; while (i < set.size() && set[i].tag != r.sector) ++i;
    Sector s = {r.sector, 0, 0, 0, owner, owner};
    if (i < set.size()) { s = set[i]; set.erase(set.begin() + i); }
    if (r.kind & 1) {
        if (r.bytes & ~s.there) { ++l.misses; l.read += 32; s.there = ~0u; s.reader = owner; } else ++l.hits;
        if (s.there == ~0u) s.read |= r.bytes & ~s.dirty;
    }
    if (r.kind & 2) { s.dirty |= r.bytes; s.there |= r.bytes; s.writer = owner; l.hits += r.kind == 2; }
    if (set.size() == WAYS) { evict(set.back()); set.pop_back(); }
    set.insert(set.begin(), s);
}
inline void advance(bool all) {  // until a thread block has left, or all have
    uint32_t owner = (uint32_t)launches.size() - 1;
    while (!resident.empty()) {
        bool left = false;
        for (size_t b = 0; b < resident.size(); ++b) {
            auto& of = resident[b]; size_t end = std::min(of.size(), position[b] + TURN);
            for (; position[b] < end; ++position[b]) request(of[position[b]], owner);
        }
        for (size_t b = resident.size(); b-- > 0;) if (position[b] == resident[b].size()) { resident.erase(resident.begin() + b); position.erase(position.begin() + b); left = true; }
        if (left && !all) return;
    }
}
inline void touch(const char* name, char* p, size_t n, uint32_t kind) {  // copies and fills that are no kernels
    if (!on) return;
    launches.emplace_back(); launches.back().name = name;
    for (uintptr_t at = (uintptr_t)p; at < (uintptr_t)p + n;) {
        uintptr_t sector = at / 32, next = std::min((sector + 1) * 32, (uintptr_t)p + n); uint32_t mask = 0;
        for (; at < next; ++at) mask |= 1u << at % 32;
        request({sector, mask, kind}, (uint32_t)launches.size() - 1);
    }
}

// ---------------------------------------------------------------- accesses of a warp
inline void in_shared(const emu::Access& a, const uint64_t* at, const int* lane, int n, Site& site) {
    int group = a.bytes <= 4 ? 32 : 128 / a.bytes, passes = 0, least = 0;  // lanes that are served together
    for (int from = 0, to; from < n; from = to) {
        for (to = from + 1; to < n && lane[to] / group == lane[from] / group;) ++to;
        uint64_t words[128]; int known = 0, most = 1; unsigned char in_bank[32] = {0};
        for (int i = from; i < to; ++i) for (unsigned w = 0; w < std::max(1u, a.bytes / 4u); ++w) {
            uint64_t word = at[i] / 4 + w; bool met = false;
            if (!(a.kind & 4)) for (int j = 0; j < known && !met; ++j) met = words[j] == word;  // atomics on one word wait for each other
            if (met) continue;
            words[known++] = word; most = std::max<int>(most, ++in_bank[word % 32]);
        }
        passes += most; ++least; site.worst = std::max<uint64_t>(site.worst, most);
    }
    site.units += passes; site.least += least;
}
inline void in_global(const emu::Access& a, const uint64_t* at, int n, Site& site) {
    Request found[128]; int known = 0, last = 0;
    for (int i = 0; i < n; ++i) for (uint64_t byte = at[i], end = at[i] + a.bytes; byte < end;) {
        uint64_t sector = byte / 32, next = std::min(end, (sector + 1) * 32); uint32_t mask = (uint32_t)(((1ull << (next - byte)) - 1) << byte % 32);
        byte = next;
        if (!(known && found[last].sector == sector)) { for (last = 0; last < known && found[last].sector != sector; ++last) {} }
        if (last == known) found[known++] = {sector, 0, (uint32_t)(a.kind & 4 ? 3 : a.kind)};
        found[last].bytes |= mask;
    }
    for (int j = 0; j < known; ++j) { site.least += bits(found[j].bytes); stream.push_back(found[j]); }
    site.units += known; site.worst = std::max<uint64_t>(site.worst, known);
    if (a.kind & 4) for (int i = 0; i < n; ++i) ++atomics[at[i]];
}

// ---------------------------------------------------------------- replay
inline void replay(emu::Trace* of, int lanes) {
    uint64_t *p[32], *end[32]; unsigned left = 0;
    for (int i = 0; i < lanes; ++i) { p[i] = of[i].begin; end[i] = of[i].at; of[i].at = of[i].begin; if (p[i] < end[i]) left |= 1u << i; }
    if (!on) return;
    Launch& l = launches.back();
    while (left) {
        uint64_t lowest = ~0ull; unsigned active = 0;
        for (unsigned m = left; m; m &= m - 1) { int i = __builtin_ctz(m); if (*p[i] < lowest) { lowest = *p[i]; active = 0; } if (*p[i] == lowest) active |= 1u << i; }
        const emu::Basic& b = l.basics[lowest];
        ++l.by_warp[lowest]; l.by_thread[lowest] += bits(active);
        for (unsigned j = 0; j < b.accesses; ++j) {
            const emu::Access& a = b.access[j]; Site& site = l.sites[b.first + j]; uint64_t at[32]; int lane[32], n = 0; bool shared = false;
            for (unsigned m = active; m; m &= m - 1) {
                int i = __builtin_ctz(m); uint64_t where = p[i][1 + j];
                if (!where || (where >= (uint64_t)stack_low && where < (uint64_t)stack_high)) continue;
                shared = where >= (uint64_t)shared_low && where < (uint64_t)shared_high; lane[n] = i; at[n++] = shared ? where - (uint64_t)shared_low : where;
            }
            if (!n) continue;
            ++site.count; site.shared = shared; if (shared) in_shared(a, at, lane, n, site); else in_global(a, at, n, site);
        }
        uint64_t next = ~1ull; bool parts = false;
        for (unsigned m = active; m; m &= m - 1) {
            int i = __builtin_ctz(m); p[i] += 1 + b.accesses;
            uint64_t to = p[i] < end[i] ? *p[i] : ~0ull; if (to == ~0ull) left &= ~(1u << i);
            if (next != ~1ull && next != to) parts = true;
            next = to;
        }
        if (parts) ++l.split[lowest];
    }
}
inline void replay_all(unsigned count) { for (unsigned t = 0; t < count; t += 32) replay(&traces[t], (int)std::min(32u, count - t)); }

inline void flush() { for (auto& set : sets) { for (auto& s : set) evict(s); set.clear(); } }
inline void begin(const std::string& name, const emu::Basic* basics, unsigned threads, uint64_t blocks, size_t fit) {
    while (traces.size() < threads) traces.push_back({nullptr, nullptr, nullptr});
    for (auto& t : traces) t.at = t.begin;
    if (!on) return;
    launches.emplace_back(); Launch& l = launches.back(); l.name = name; l.basics = basics; l.blocks = blocks; l.threads = threads;
    size_t n = 0, accesses = 0; for (; basics[n].counts; ++n) accesses += basics[n].accesses;
    l.by_warp.assign(n, 0); l.by_thread.assign(n, 0); l.split.assign(n, 0); l.sites.assign(accesses, Site());
    l.warps = blocks * ((threads + 31) / 32); room = std::max<size_t>(1, fit); atomics.clear();
}
inline void start(size_t bytes) { flush(); launches.clear(); on = bytes; sets.assign(std::max<size_t>(1, bytes / 32 / WAYS), {}); }
inline void pass_barrier() { if (on) ++launches.back().barriers; }
inline void end_block() { if (!on) return; resident.push_back(std::move(stream)); position.push_back(0); stream.clear(); if (resident.size() >= room) advance(false); }
inline void end() {
    if (!on) return;
    advance(true); Launch& l = launches.back(); l.addresses = atomics.size();
    for (auto& [_, n] : atomics) { l.atomics += n; l.contended = std::max(l.contended, n); }
}

inline std::string report() {
    flush(); std::string out = "["; char b[1024];
    for (auto& l : launches) {
        uint64_t counts[emu::CLASSES] = {0}, threads = 0, all = 0;
        for (size_t i = 0; i < l.by_warp.size(); ++i) {
            for (int c = 0; c < emu::CLASSES; ++c) { counts[c] += l.by_warp[i] * l.basics[i].counts[c]; threads += l.by_thread[i] * l.basics[i].counts[c]; }
            if (l.basics[i].conditional) { l.branches += l.by_warp[i]; l.divergent += l.split[i]; }
        }
        for (uint64_t c : counts) all += c;
        snprintf(b, sizeof b, "%s{\"kernel\": \"%s\", \"blocks\": %lu, \"warps\": %lu, \"issued\": %lu, \"executed\": %lu, \"branches\": %lu, \"divergent\": %lu, \"barriers\": %lu, \"atomics\": %lu, \"addresses\": %lu, \"contended\": %lu, \"hits\": %lu, \"misses\": %lu, \"read\": %lu, \"written\": %lu, \"used\": %lu, \"classes\": [",
                 out.size() > 1 ? ",\n" : "", l.name.c_str(), l.blocks, l.warps, all, threads, l.branches, l.divergent, l.barriers, l.atomics, l.addresses, l.contended, l.hits, l.misses, l.read, l.written, l.used);
        out += b; l.branches = l.divergent = 0;
        for (int c = 0; c < emu::CLASSES; ++c) out += (c ? ", " : "") + std::to_string(counts[c]);
        out += "], \"sites\": ["; bool some = false;
        for (size_t i = 0; i < l.by_warp.size(); ++i) for (unsigned j = 0; j < l.basics[i].accesses; ++j) {
            const emu::Access& a = l.basics[i].access[j]; const Site& s = l.sites[l.basics[i].first + j];
            if (!s.count) continue;
            snprintf(b, sizeof b, "%s[%d, %u, %u, %u, %lu, %lu, %lu, %lu]", some ? ", " : "", a.line, (unsigned)s.shared, a.kind, a.bytes, s.count, s.units, s.least, s.worst);
            out += b; some = true;
        }
        out += "]}";
    }
    return out + "]";
}
}  // namespace profile
