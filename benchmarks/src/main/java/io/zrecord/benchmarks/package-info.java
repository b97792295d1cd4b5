/** Programs that measure; each prints one table. Nothing here is deployed. */
@NullMarked
package io.zrecord.benchmarks;

import org.jspecify.annotations.NullMarked;
