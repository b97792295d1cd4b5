package io.zrecord.spark.rules;

import io.zrecord.spark.catalog.ZRecordTable;
import io.zrecord.spark.column.ColumnMetadata;
import io.zrecord.spark.write.WriteTarget;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.plans.QueryPlan;
import org.apache.spark.sql.catalyst.plans.logical.AppendData;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.V2WriteCommand;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.connector.catalog.TableCapability;
import org.apache.spark.sql.types.Metadata;
import org.apache.spark.sql.types.MetadataBuilder;
import org.apache.spark.sql.types.StructField;
import scala.Option;

/**
 * Gives the columns of an overwrite what applications say of the columns of its query. Where names,
 * types or the order differ, Spark fits the query to the table by a projection, in which all
 * columns have the metadata of the table's columns instead. Stateless.
 *
 * <p>In a session that is extended late, the rule sees the query after Spark has optimized the
 * query. The fitted columns are then found in the analyzed query. Spark keeps no analyzed query of
 * a dynamic overwrite, whose columns therefore lose their metadata.
 */
public final class MetadataOfQueries extends Rule<LogicalPlan> {
  @Override
  public LogicalPlan apply(LogicalPlan plan) {
    return WritesOfTables.changed(
        plan,
        (write, table) ->
            write instanceof AppendData || !isFittedTo(table) ? (LogicalPlan) write : given(write));
  }

  /** Tells whether Spark fits queries to a table. A new table has the columns of its query. */
  private static boolean isFittedTo(ZRecordTable table) {
    return !table.capabilities().contains(TableCapability.ACCEPT_ANY_SCHEMA)
        && table
            .target()
            .filter(target -> target.creation() == WriteTarget.Creation.APPEND)
            .isPresent();
  }

  private static LogicalPlan given(V2WriteCommand write) {
    if (!(analyzed(write) instanceof Project fitted)) {
      return (LogicalPlan) write;
    }
    LogicalPlan query = write.query();
    StructField[] ofTable = ((LogicalPlan) write.table()).schema().fields();
    List<NamedExpression> columns = columnsOf(fitted);
    List<NamedExpression> written = new ArrayList<>();
    boolean isChanged = false;
    for (NamedExpression column : sequence(QueryPlan.class, "output", query)) {
      Optional<Metadata> wanted = metadata(columns.get(written.size()), fitted.child(), ofTable)
          .filter(metadata -> !metadata.equals(column.metadata()));
      isChanged |= wanted.isPresent();
      written.add(wanted.map(metadata -> described(column, metadata)).orElse(column));
    }
    return isChanged
        ? (LogicalPlan) write.withNewQuery(project(written, query))
        : (LogicalPlan) write;
  }

  /** Returns the query of a write as Spark analyzed the query. */
  private static LogicalPlan analyzed(V2WriteCommand write) {
    try {
      Option<?> kept = (Option<?>) write.getClass().getMethod("analyzedQuery").invoke(write);
      return kept.isDefined() ? (LogicalPlan) kept.get() : write.query();
    } catch (ReflectiveOperationException e) {
      return write.query(); // This kind of write does not keep the analyzed query.
    }
  }

  /**
   * Returns the metadata that a column should have, if Spark fitted the column to a table.
   *
   * @param below plan from which the column is computed
   */
  private static Optional<Metadata> metadata(
      NamedExpression column, LogicalPlan below, StructField[] ofTable) {
    if (!(column instanceof Alias fitted) || fitted.explicitMetadata().isEmpty()) {
      return Optional.empty();
    }
    Metadata given = fitted.explicitMetadata().get();
    return Arrays.stream(ofTable)
        .filter(field -> field.name().equals(fitted.name()))
        .filter(field -> ColumnMetadata.haveTheSame(field.metadata(), given))
        .findFirst()
        .map(field -> new MetadataBuilder()
            .withMetadata(ColumnMetadata.withoutApplications(given))
            .withMetadata(said(fitted, below, ofTable))
            .build());
  }

  /**
   * Returns what the query says of a column. Spark computes a fitted column from one column, and
   * fits columns of type CHAR and VARCHAR twice.
   */
  private static Metadata said(Alias fitted, LogicalPlan below, StructField[] ofTable) {
    List<Attribute> queried = ScalaLists.copy(fitted.child().references(), Attribute.class);
    if (queried.size() != 1) {
      return Metadata.empty();
    }
    Attribute column = queried.get(0);
    Optional<Metadata> fittedBefore = below instanceof Project before
        ? columnsOf(before).stream()
            .filter(other -> other.exprId().equals(column.exprId()))
            .findFirst()
            .flatMap(other -> metadata(other, before.child(), ofTable))
        : Optional.empty();
    return ColumnMetadata.ofApplications(fittedBefore.orElse(column.metadata()));
  }

  private static List<NamedExpression> columnsOf(Project project) {
    return sequence(Project.class, "projectList", project);
  }

  /** Calls a method that returns columns as one of Scala's sequences. */
  private static List<NamedExpression> sequence(Class<?> type, String method, LogicalPlan plan) {
    try {
      return ScalaLists.copy(type.getMethod(method).invoke(plan), NamedExpression.class);
    } catch (ReflectiveOperationException e) {
      throw PlanNodes.unknown(e);
    }
  }

  private static NamedExpression described(NamedExpression column, Metadata metadata) {
    Object none = ScalaLists.of(List.of());
    return PlanNodes.made(
        Alias.class,
        column,
        column.name(),
        NamedExpression.newExprId(),
        none,
        Option.apply(metadata),
        none);
  }

  private static Project project(List<NamedExpression> columns, LogicalPlan query) {
    return PlanNodes.made(Project.class, ScalaLists.of(columns), query);
  }
}
