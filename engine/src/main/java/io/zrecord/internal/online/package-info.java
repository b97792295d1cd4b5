/** The store that is written online: tables of entries that change, a journal, chunks that grow (FORMAT.md section 9). */
@NullMarked
package io.zrecord.internal.online;

import org.jspecify.annotations.NullMarked;
