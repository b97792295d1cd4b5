package io.zrecord.spark.rules;

import io.zrecord.spark.catalog.ZRecordTable;
import io.zrecord.spark.column.ColumnMetadata;
import java.lang.reflect.InvocationTargetException;
import java.util.Arrays;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Cast;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.expressions.objects.AssertNotNull;
import org.apache.spark.sql.catalyst.plans.logical.AppendData;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.V2WriteCommand;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.types.Metadata;
import org.apache.spark.sql.types.MetadataBuilder;
import org.apache.spark.sql.types.StructField;
import scala.Option;
import scala.PartialFunction;

/**
 * Gives the columns of an overwrite what applications say of the columns of its query. Where names,
 * types or the order differ, Spark gives all columns the metadata of the table's columns instead.
 * Stateless.
 */
public final class MetadataOfQueries extends Rule<LogicalPlan> {
  @Override
  public LogicalPlan apply(LogicalPlan plan) {
    return WritesOfTables.changed(plan, MetadataOfQueries::given);
  }

  private static LogicalPlan given(V2WriteCommand write, ZRecordTable table) {
    if (write instanceof AppendData || !(write.query() instanceof Project fitted)) {
      return (LogicalPlan) write;
    }
    LogicalPlan given = fitted.transformExpressions(new Columns(table));
    return given == fitted ? (LogicalPlan) write : (LogicalPlan) write.withNewQuery(given);
  }

  /** The columns that Spark fitted to those of a table. */
  private record Columns(ZRecordTable table) implements PartialFunction<Expression, Expression> {
    @Override
    public boolean isDefinedAt(Expression expression) {
      return expression instanceof Alias column
          && isFitted(column)
          && !said(column).equals(Metadata.empty());
    }

    @Override
    public Expression apply(Expression expression) {
      Alias column = (Alias) expression;
      return withMetadata(
          column,
          new MetadataBuilder()
              .withMetadata(column.explicitMetadata().get())
              .withMetadata(said(column))
              .build());
    }

    /** Tells whether a column has the metadata of the table's column, as Spark gives them. */
    private boolean isFitted(Alias column) {
      Option<Metadata> metadata = column.explicitMetadata();
      return metadata.isDefined()
          && ColumnMetadata.ofApplications(metadata.get()).equals(Metadata.empty())
          && Arrays.stream(table.schema().fields())
              .filter(field -> field.name().equals(column.name()))
              .map(StructField::metadata)
              .anyMatch(metadata.get()::equals);
    }

    private static Metadata said(Alias column) {
      return queried(column.child()) instanceof NamedExpression named
          ? ColumnMetadata.ofApplications(named.metadata())
          : Metadata.empty();
    }

    /** Returns what a query gives for a column. Spark 3 casts a column to its own type. */
    private static Expression queried(Expression fitted) {
      if (fitted instanceof AssertNotNull check) {
        return queried(check.child());
      }
      return fitted instanceof Cast cast && cast.child().dataType().equals(cast.dataType())
          ? queried(cast.child())
          : fitted;
    }

    /** Copies a column. Two members are Scala's sequences, which differ between releases. */
    private static Alias withMetadata(Alias column, Metadata metadata) {
      try {
        return (Alias) Alias.class.getConstructors()[0].newInstance(
            column.child(),
            column.name(),
            column.exprId(),
            Alias.class.getMethod("qualifier").invoke(column),
            Option.apply(metadata),
            Alias.class.getMethod("nonInheritableMetadataKeys").invoke(column));
      } catch (InvocationTargetException e) {
        throw new IllegalStateException("Cannot give a column its metadata", e.getCause());
      } catch (ReflectiveOperationException e) {
        throw new IllegalStateException("This release of Spark has another Alias", e);
      }
    }
  }
}
