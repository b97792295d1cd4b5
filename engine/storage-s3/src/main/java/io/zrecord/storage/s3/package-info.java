/**
 * Tables on S3 and on servers that speak its protocol, by the AWS SDK for Java, without Hadoop.
 * Storages and files open for reading are thread-safe; a file being written belongs to one thread.
 * Errors are {@link io.zrecord.errors.ZRecordException}s that name the object, the range and how
 * often the request was tried. Start with {@link io.zrecord.storage.s3.S3Storage}.
 */
@NullMarked
package io.zrecord.storage.s3;

import org.jspecify.annotations.NullMarked;
