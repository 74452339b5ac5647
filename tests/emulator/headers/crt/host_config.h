// NVIDIA's checks which host compilers nvcc works with; nvcc is not used here.
#pragma once
