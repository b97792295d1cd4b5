package io.zrecord.npy;

/**
 * The header of a {@code .npy} file (NEP 1): a magic, a version, a length, and a Python dictionary.
 *
 * <pre>
 *  0  6 B   0x93 "NUMPY"
 *  6  u8    major version: 1, 2 or 3
 *  7  u8    minor version: 0
 *  8  u16   length of the dictionary in version 1, u32 from version 2 on
 *  …        {'descr': '&lt;f4', 'fortran_order': False, 'shape': (60000, 28, 28), }
 * </pre>
 *
 * @param description the dtype, such as {@code <f4}
 * @param isFortranOrder whether the first index runs fastest
 * @param shape dimensions, each ≥ 0
 * @param dataOffset position in the file of the first element
 */
record NpyHeader(
    String description, boolean isFortranOrder, java.util.List<Long> shape, long dataOffset) {
  NpyHeader {
    shape = java.util.List.copyOf(shape);
  }
}
