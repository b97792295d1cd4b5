/**
 * What versions of a table have inserted, deleted and changed, one by one or several together, told
 * from files of their commits.
 */
@NullMarked
package io.zrecord.changes;

import org.jspecify.annotations.NullMarked;
