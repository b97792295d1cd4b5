/**
 * A dataset as one HTML page for people. Everything that comes from the dataset goes through {@link io.zrecord.report.Html}, which makes it
 * text; the page forbids scripts by a policy of its own besides. Memory is bounded whatever the dataset's size. Start with {@link
 * io.zrecord.report.DatasetReport}; exceptions are those of reading.
 */
@NullMarked
package io.zrecord.report;

import org.jspecify.annotations.NullMarked;
