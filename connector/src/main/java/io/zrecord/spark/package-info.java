/**
 * The Apache Spark data source {@code zrecord}, on the DataSource V2 interfaces: one class for each
 * role, with the role in its name. One jar runs on Spark 3.5 to 4.2 and both Scala versions; it
 * therefore uses no method with a Scala collection in its signature. Errors of the engine pass
 * through with their messages. Start with {@link io.zrecord.spark.ZRecordSource}.
 */
@NullMarked
package io.zrecord.spark;

import org.jspecify.annotations.NullMarked;
