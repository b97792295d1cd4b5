/**
 * The command {@code zrecord}: looks at datasets, changes stores, checks and repairs, imports and
 * exports. Commands parse arguments, call the engine's public classes and print; they keep no
 * state. A command belongs to one thread. An error is one line on the standard error, and
 * {@link io.zrecord.cli.console.ExitCodes} lists the exit codes. Not part of the connector. Start
 * with {@link io.zrecord.cli.Zrecord}.
 */
@NullMarked
package io.zrecord.cli;

import org.jspecify.annotations.NullMarked;
