/**
 * What a check of a dataset tells: each finding, how far the check is, and the sum. Small immutable
 * values that can be serialized; a listener runs on the thread of its check. Depends on no other
 * package. Start with {@link io.zrecord.findings.Finding}.
 */
@NullMarked
package io.zrecord.findings;

import org.jspecify.annotations.NullMarked;
