package io.zrecord.spark.procedure;

import java.util.Iterator;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.catalog.procedures.ProcedureParameter;
import org.apache.spark.sql.connector.catalog.procedures.SimpleProcedure;
import org.apache.spark.sql.connector.read.Scan;

/**
 * A procedure whose parameters {@code DESCRIBE PROCEDURE} shows, which Spark does from 4.2 on.
 *
 * @param called the procedure
 */
record DescribedProcedure(CalledProcedure called) implements SimpleProcedure {
  @Override
  public String name() {
    return called.name();
  }

  @Override
  public String description() {
    return called.description();
  }

  @Override
  public ProcedureParameter[] parameters() {
    return called.parameters();
  }

  @Override
  public boolean isDeterministic() {
    return called.isDeterministic();
  }

  @Override
  public Iterator<Scan> call(InternalRow arguments) {
    return called.call(arguments);
  }
}
