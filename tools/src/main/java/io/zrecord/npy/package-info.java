/**
 * Conversion between datasets and arrays in NumPy's format ({@code .npy}, NEP 1). Files are
 * untrusted: a strict parser with limits reads their headers, and every length is checked against
 * the file. Objects belong to one thread unless they are stateless. Start with
 * {@link io.zrecord.npy.NpyImporter}.
 */
@NullMarked
package io.zrecord.npy;

import org.jspecify.annotations.NullMarked;
