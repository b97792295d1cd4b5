/** Tests of the cache of blocks. */
@org.jspecify.annotations.NullMarked
package io.zrecord.storage.cache;
