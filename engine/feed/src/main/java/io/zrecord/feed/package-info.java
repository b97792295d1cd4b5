/**
 * The training feed: batches of a dataset in the order of a sampler, loaded ahead of the consumer
 * that trains with them. Plans, states and settings are immutable; a feed has one consumer thread
 * and several loader threads. A batch that fails to load is an exception of
 * {@link io.zrecord.feed.Feed#next}, unless a {@link io.zrecord.feed.BadRecordPolicy} leaves out
 * its bad records. Start with {@link io.zrecord.feed.Feed}.
 */
@org.jspecify.annotations.NullMarked
package io.zrecord.feed;
