"""Values that must not be found in bytes; the search looks for text, digits and bits, also in compressed parts."""

import base64
import contextlib
import datetime
import io
import itertools
import math
import pickletools
import re
import struct
import zipfile
import zlib

import numpy as np
import pyarrow as pa

MARK = "zQx"  # every planted text begins with it; five letters follow
DIGITS = 10  # of a number in decimal text that give it away
EPOCH = datetime.datetime(1970, 1, 1)
SPREADSHEET = datetime.datetime(1899, 12, 30)
STATA = datetime.datetime(1960, 1, 1)  # and SAS
SPSS = datetime.datetime(1582, 10, 14)
_CODE = re.compile(  # in UTF-8, UTF-16 and UTF-32
    rb"zQx([0-9a-z]{5})|z\0Q\0x\0((?:[0-9a-z]\0){4}[0-9a-z])|z\0{3}Q\0{3}x\0{3}((?:[0-9a-z]\0{3}){4}[0-9a-z])"
)
_NUMBER = re.compile(rb"\d+(?:\.\d+)?")
_COMMA = re.compile(rb"\d+,\d+")
_DAY = re.compile(rb"2[0-9]{3}-[01]\d-[0-3]\d")
_PARQUET_CODECS = {1: "snappy", 2: "gzip", 4: "brotli", 5: "lz4", 6: "zstd", 7: "lz4_raw"}


class Needles:
    """Planted values by their places.  `found` lists those that are in some bytes, and in which form."""

    def __init__(self):
        self.codes, self.days, self.digits, self.bits = {}, {}, {}, {}
        self._low = None

    def add(self, value, where):
        """Look for a text, bytes, float, int or moment; None is nothing to look for."""
        self._low = None
        if isinstance(value, (str, bytes)):
            text = value if isinstance(value, bytes) else value.encode()
            assert text.startswith(MARK.encode()), "planted texts are recognizable"
            self.codes[text[3:8]] = where
        elif isinstance(value, datetime.datetime):
            self.days[value.date().isoformat().encode()] = where
            micro = (value - EPOCH) // datetime.timedelta(microseconds=1)
            for unit, count in (("us", micro), ("ms", micro // 1000), ("ns", micro * 1000)):
                if abs(count) < 2**63:
                    self._bits(struct.pack("<q", count), f"{where}, {unit} in bits")
            state = struct.pack(">HBBBBBB", *value.timetuple()[:6], value.microsecond >> 16)
            self._bits(state, f"{where}, as Python pickles it")
            for origin in (SPREADSHEET, STATA, SPSS):
                self._number((value - origin) / datetime.timedelta(days=1), where)
                self._number((value - origin) / datetime.timedelta(seconds=1), where)
                self._number((value - origin) / datetime.timedelta(milliseconds=1), where)
        elif value is not None:
            self._number(value, where)

    def _number(self, value, where):
        """Cut and rounded in decimal text, and in bits."""
        if not math.isfinite(value) or abs(value) < 1e-300:
            return
        text = f"{value:.25e}" if isinstance(value, float) else str(value).ljust(DIGITS + 1, "0")
        for digits in (text.partition("e")[0], f"{value:.{DIGITS - 1}e}".partition("e")[0]):
            self.digits[re.sub(r"\D", "", digits)[:DIGITS].encode()] = where
        forms = {"float64": struct.pack("<d", value), "IBM float": ibm(float(value))}
        if float(value).is_integer() and abs(value) < 2**63:
            forms["int64"] = struct.pack("<q", int(value))
        for form, bits in forms.items():
            self._bits(bits, f"{where}, {form} in bits")

    def _bits(self, bits, how):
        self.bits[struct.unpack("<Q", bits)[0]] = how
        self.bits[struct.unpack(">Q", bits)[0]] = how

    def add_run(self, days, where):
        """Dates of neighboring records, two of which are eight bytes."""
        self._low = None
        counts = [(day - EPOCH).days for day in days]
        for pair in itertools.pairwise(counts):
            self._bits(struct.pack("<ii", *pair), f"{where}, date32 in bits")

    def found(self, blob):
        """The places of the values that are in these bytes, or in compressed parts of them."""
        return {hit for layer in layers(blob) for hit in self._in(layer)}

    def _in(self, blob):
        for match in _CODE.finditer(blob):
            code = match[match.lastindex].replace(b"\0", b"")
            if code in self.codes:
                yield f"{self.codes[code]}, as text"
        for match in _DAY.finditer(blob):
            if match[0] in self.days:
                yield f"{self.days[match[0]]}, as a date in text"
        for number in (_NUMBER.findall(blob) + _COMMA.findall(blob)) if self.digits else ():
            if len(number) >= DIGITS:
                digits = re.sub(rb"\D", b"", number).lstrip(b"0")[:DIGITS]
                if digits in self.digits:
                    yield f"{self.digits[digits]}, as digits"
        yield from self._bit_hits(blob)

    def _bit_hits(self, blob):
        if not self.bits:
            return
        if self._low is None:  # a first look at sixteen bits spares most of the search
            self._low = np.zeros(2**16, bool)
            self._low[[word & 0xFFFF for word in self.bits]] = True
        for shift in range(8):
            count = (len(blob) - shift) // 8
            if count <= 0:
                return
            words = np.frombuffer(blob, "<u8", count, shift)
            for word in self.bits.keys() & words[self._low[words.astype(np.uint16)]].tolist():
                yield self.bits[word]


def files_with(folder, needles):
    """The files below a folder that hold one of the planted values."""
    holding = []
    for path in folder.rglob("*"):
        with contextlib.suppress(FileNotFoundError):  # removed meanwhile
            if path.is_file() and needles.found(path.read_bytes()):
                holding.append(path)
    return holding


def ibm(value):
    """A float as SAS transport files hold it, to the last bit: sign, exponent of 16, 56 bits."""
    if not math.isfinite(value) or value == 0:
        return bytes(8)
    fraction, exponent = math.frexp(abs(value))
    power = -(-exponent // 4)
    mantissa = int(math.ldexp(fraction, 56 - (4 * power - exponent)))
    return bytes([(128 if value < 0 else 0) | ((power + 64) & 127)]) + mantissa.to_bytes(7, "big")


# ---- what is compressed


def layers(blob, depth=3):
    """The bytes, and all that can be decompressed in them."""
    yield blob
    if depth == 0:
        return
    inner = [*_zip(blob), *_pages(blob), *_pickled(blob), *_base64(blob), *_streams(blob)]
    for one in inner:
        yield from layers(one, depth - 1)


def _zip(blob):
    if blob[:2] == b"PK":
        with zipfile.ZipFile(io.BytesIO(blob)) as book:
            yield from (book.read(name) for name in book.namelist())


def _pickled(blob):
    """Numbers of a pickle as text, and bytes that protocol 2 wraps in text."""
    if blob[:1] != b"\x80":
        return
    numbers = []
    try:
        for operation, argument, _ in pickletools.genops(blob):
            if isinstance(argument, (int, float)) and operation.name not in ("FRAME", "BINGET", "BINPUT", "PROTO"):
                numbers.append(repr(argument))
            elif isinstance(argument, str) and blob[1] == 2 and not argument.isascii():
                with contextlib.suppress(UnicodeError):
                    yield argument.encode("latin-1")
    except ValueError:  # not a pickle
        return
    yield " ".join(numbers).encode()


def _base64(blob):
    """Long runs of its letters, like Arrow's schema in a Parquet file; letters before it may seem to be part of it."""
    for match in re.finditer(rb"[A-Za-z0-9+/]{64,}", blob):
        for shift in range(4):
            letters = match[0][shift:]
            yield base64.b64decode(letters[: len(letters) // 4 * 4])


def _streams(blob):
    """Streams of zlib, gzip, LZ4 and Zstandard, wherever one begins."""
    for match in re.finditer(rb"\x1f\x8b\x08|\x78[\x01\x5e\x9c\xda]", blob):
        try:
            yield zlib.decompressobj(47).decompress(blob[match.start() :], 2**26)
        except zlib.error:
            continue
    for magic, codec in ((b"\x04\x22\x4d\x18", "lz4"), (b"\x28\xb5\x2f\xfd", "zstd")):
        at = blob.find(magic)
        while at >= 0:
            yield _decompressed(blob, at, codec)
            at = blob.find(magic, at + 4)


def _decompressed(blob, at, codec):
    """Arrow tells the length before the stream; elsewhere as much as there is."""
    told = struct.unpack_from("<q", blob, at - 8)[0] if at >= 8 else 0
    steps = [told] if 0 < told < 2**28 else []
    whole = []
    try:
        stream = pa.CompressedInputStream(pa.BufferReader(pa.py_buffer(blob[at:])), codec)
        while step := stream.read(steps.pop() if steps else 1024):
            whole.append(step)
    except OSError:  # what follows the stream
        pass
    return b"".join(whole)


def _pages(blob):
    """Every page of a Parquet file, decompressed."""
    if blob[:4] != b"PAR1" or blob[-4:] != b"PAR1":
        return
    length = struct.unpack("<I", blob[-8:-4])[0]
    footer, _ = _thrift(blob, len(blob) - 8 - length)
    for group in footer.get(4, []):
        for chunk in group[1]:
            meta = chunk[3]
            begin = min(meta[9], meta.get(11) or meta[9])
            yield from _chunk(blob, begin, begin + meta[7], meta[4])


def _chunk(blob, at, end, codec):
    while at < end:
        header, at = _thrift(blob, at)
        body = blob[at : at + header[3]]
        at += header[3]
        levels = header[8].get(5, 0) + header[8].get(6, 0) if 8 in header else 0  # stand before what is compressed
        plain = codec == 0 or (8 in header and header[8].get(7) is False)
        size = header[2] - levels
        if not plain and size:
            body = body[:levels] + pa.Codec(_PARQUET_CODECS[codec]).decompress(body[levels:], size, asbytes=True)
        yield body


def _varint(blob, at):
    number = shift = 0
    while True:
        byte = blob[at]
        number, shift, at = number | (byte & 127) << shift, shift + 7, at + 1
        if byte < 128:
            return number, at


def _thrift(blob, at):
    """A struct of Thrift's compact protocol by the numbers of its fields, and where it ends."""
    fields, field = {}, 0
    while blob[at]:
        kind, step = blob[at] & 15, blob[at] >> 4
        at += 1
        if step:
            field += step
        else:
            number, at = _varint(blob, at)
            field = (number >> 1) ^ -(number & 1)
        fields[field], at = (kind == 1, at) if kind in (1, 2) else _thrift_value(blob, at, kind)
    return fields, at + 1


def _thrift_value(blob, at, kind):
    if kind in (1, 2, 3):  # in a list, a boolean is a byte
        return blob[at], at + 1
    if kind in (4, 5, 6):
        number, at = _varint(blob, at)
        return (number >> 1) ^ -(number & 1), at
    if kind == 7:
        return struct.unpack_from("<d", blob, at)[0], at + 8
    if kind == 8:
        length, at = _varint(blob, at)
        return blob[at : at + length], at + length
    if kind == 12:
        return _thrift(blob, at)
    count, inner = blob[at] >> 4, blob[at] & 15
    at += 1
    if count == 15:
        count, at = _varint(blob, at)
    values = []
    for _ in range(count):
        value, at = _thrift_value(blob, at, inner)
        values.append(value)
    return values, at
