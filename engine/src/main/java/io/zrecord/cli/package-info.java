/**
 * The command {@code zrecord}: looks at datasets, changes stores, checks and repairs, imports and exports. Commands parse, call the
 * engine's public classes and print; they keep nothing. Each error is one line on the standard error; {@link
 * io.zrecord.cli.ExitCodes} says what the exit code means. Not part of the connector, and its libraries are optional for the engine.
 * Start with {@link io.zrecord.cli.Zrecord}.
 */
@NullMarked
package io.zrecord.cli;

import org.jspecify.annotations.NullMarked;
