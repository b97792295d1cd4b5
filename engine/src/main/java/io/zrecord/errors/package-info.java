/**
 * Exceptions of the engine. All are unchecked and name the resource; I/O errors are converted once, where files are touched.
 * Errors of the caller (an index out of range, an unknown field) are the JDK's own exceptions.
 */
@NullMarked
package io.zrecord.errors;

import org.jspecify.annotations.NullMarked;
