/**
 * Arrays as NumPy writes them ({@code .npy}, NEP 1) become datasets. Start with {@link io.zrecord.npy.NpyImporter}. Files are
 * untrusted: their headers are parsed by a strict parser with limits, and every length is checked against the file.
 */
@NullMarked
package io.zrecord.npy;

import org.jspecify.annotations.NullMarked;
