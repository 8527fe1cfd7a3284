// What saxpy.cu and the program that launches it agree on.
#pragma once

using Saxpy = void(float a, const float* x, float* y, int n);  // y = a x + y, n elements each

constexpr int kSaxpyTile = 1024;  // elements of a block: launch ceil(n / kSaxpyTile) of them
