/**
 * A report on a dataset as one HTML page for people. All content of the dataset passes through
 * {@link io.zrecord.report.Html}, which escapes the content as text. In addition, the page's own
 * policy forbids scripts. Memory is bounded, whatever the dataset's size. Objects belong to one
 * thread; exceptions are those of reading. Start with {@link io.zrecord.report.DatasetReport}.
 */
@NullMarked
package io.zrecord.report;

import org.jspecify.annotations.NullMarked;
