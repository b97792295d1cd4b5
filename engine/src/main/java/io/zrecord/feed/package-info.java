/**
 * The training feed: batches of a dataset in the order of a sampler, loaded ahead of whoever trains
 * with them.
 */
@org.jspecify.annotations.NullMarked
package io.zrecord.feed;
