/**
 * Measurements of tables on an object store far away, beside peers and beside plain requests for
 * the same bytes. {@code benchmarks/remote/run} starts the server, the proxy that makes it far, and
 * these programs. The programs are told of both by the environment. Start with
 * {@link io.zrecord.benchmarks.remote.Meter}.
 */
@NullMarked
package io.zrecord.benchmarks.remote;

import org.jspecify.annotations.NullMarked;
