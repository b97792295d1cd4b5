/**
 * Warehouses: directories of tables that are found by their names (FORMAT.md section 23). A table
 * is where the table's files are, so nothing points to a table, and what any program writes at the
 * place of a name has the name. Namespaces have properties, in files that are published like the
 * versions of a table. Start with {@link io.zrecord.warehouse.Warehouse}.
 */
@NullMarked
package io.zrecord.warehouse;

import org.jspecify.annotations.NullMarked;
