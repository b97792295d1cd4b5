/**
 * Tables and namespaces by their names: the warehouse of a catalog, as Spark asks for it. Start
 * with {@link io.zrecord.spark.warehouse.WarehouseNames}.
 */
@NullMarked
package io.zrecord.spark.warehouse;

import org.jspecify.annotations.NullMarked;
