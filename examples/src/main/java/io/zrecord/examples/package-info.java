/** Programs that a newcomer runs. Start with {@link io.zrecord.examples.MainJob}. */
@NullMarked
package io.zrecord.examples;

import org.jspecify.annotations.NullMarked;
