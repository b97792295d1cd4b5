/**
 * The parts of the terminal that all commands share: exit codes, lines of errors, progress. Objects
 * belong to one thread. Exceptions of a command become one line and an exit code. Start with
 * {@link io.zrecord.cli.console.Subcommand}.
 */
@NullMarked
package io.zrecord.cli.console;

import org.jspecify.annotations.NullMarked;
