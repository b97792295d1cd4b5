/**
 * Conversion of Java values to the bytes of a field, checked against the field's type and shape.
 * Stateless. A value that does not fit is an {@link java.lang.IllegalArgumentException} or an
 * {@link io.zrecord.errors.ValueTooLargeException}. Start with
 * {@link io.zrecord.internal.values.ValueBytes}.
 */
@NullMarked
package io.zrecord.internal.values;

import org.jspecify.annotations.NullMarked;
