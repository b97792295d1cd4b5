/**
 * The exceptions of the engine. All are unchecked and name the file or directory concerned. I/O
 * errors are converted once, where files are touched. A caller's errors, such as an index out of
 * range or an unknown field, are the JDK's own exceptions. Start with
 * {@link io.zrecord.errors.ZRecordException}.
 */
@NullMarked
package io.zrecord.errors;

import org.jspecify.annotations.NullMarked;
