/**
 * Conversion of values to text for people, and between values and JSON. Stateless. A value that
 * does not fit its type is an {@link IllegalArgumentException}. Start with
 * {@link io.zrecord.text.ElementJson}.
 */
@NullMarked
package io.zrecord.text;

import org.jspecify.annotations.NullMarked;
