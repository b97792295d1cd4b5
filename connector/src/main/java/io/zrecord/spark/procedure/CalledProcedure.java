package io.zrecord.spark.procedure;

import io.zrecord.spark.path.SparkErrors;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.catalog.TableCatalog;
import org.apache.spark.sql.connector.catalog.procedures.BoundProcedure;
import org.apache.spark.sql.connector.catalog.procedures.ProcedureParameter;
import org.apache.spark.sql.connector.catalog.procedures.UnboundProcedure;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.types.StructType;

/**
 * A procedure as Spark 4 calls it.
 *
 * @param catalog the catalog whose tables arguments name
 */
record CalledProcedure(SystemProcedure procedure, TableCatalog catalog)
    implements UnboundProcedure, BoundProcedure {
  @Override
  public String name() {
    return procedure.name();
  }

  @Override
  public String description() {
    return procedure.description();
  }

  @Override
  public BoundProcedure bind(StructType arguments) {
    return this;
  }

  @Override
  public ProcedureParameter[] parameters() {
    return procedure.parameters().stream()
        .map(CalledProcedure::parameter)
        .toArray(ProcedureParameter[]::new);
  }

  private static ProcedureParameter parameter(Parameter parameter) {
    ProcedureParameter.Builder builder =
        ProcedureParameter.in(parameter.name(), parameter.type()).comment(parameter.comment());
    String sql = parameter.defaultSql();
    return (sql == null ? builder : builder.defaultValue(sql)).build();
  }

  /** Returns false: a call changes something, or says what is there now. */
  @Override
  public boolean isDeterministic() {
    return false;
  }

  @Override
  public Iterator<Scan> call(InternalRow arguments) {
    Arguments given = new Arguments(
        procedure.parameters(), arguments, text -> TableArgument.storage(catalog, text));
    return SparkErrors.planned(() ->
        List.<Scan>of(new ResultRows(procedure.columns(), procedure.run(given))).iterator());
  }
}
