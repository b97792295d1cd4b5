/**
 * What tests of several packages share: budgets and seeds, a storage in memory, and a reader
 * written from docs/spec/FORMAT.md alone.
 */
@org.jspecify.annotations.NullMarked
package io.zrecord.testing;
