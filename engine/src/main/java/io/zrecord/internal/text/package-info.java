/** Values as text for people and as JSON. Stateless; what does not fit a type is an {@link IllegalArgumentException}. */
@NullMarked
package io.zrecord.internal.text;

import org.jspecify.annotations.NullMarked;
