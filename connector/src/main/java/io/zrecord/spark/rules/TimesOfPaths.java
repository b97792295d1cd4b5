package io.zrecord.spark.rules;

import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.analysis.RelationTimeTravel;
import org.apache.spark.sql.catalyst.analysis.UnresolvedRelation;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.PlanExpression;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.types.DataTypes;
import scala.Option;
import scala.PartialFunction;
import scala.runtime.BoxedUnit;

/**
 * Evaluates the time of {@code TIMESTAMP AS OF} before Spark looks for the table. Otherwise, as
 * long as an expression is not resolved, Spark takes a path for a file that it reads directly, and
 * refuses to travel in time. Thread-safe.
 */
public final class TimesOfPaths extends Rule<LogicalPlan> {
  private static final String CATALOGS = "io.zrecord.spark.";

  private final SparkSession session;

  /** Creates the rule of a session. */
  public TimesOfPaths(SparkSession session) {
    this.session = session;
  }

  @Override
  public LogicalPlan apply(LogicalPlan plan) {
    return Transforms.ofAnalyzed(() -> plan.transformUpWithSubqueries(new Relations()));
  }

  private final class Relations implements PartialFunction<LogicalPlan, LogicalPlan> {
    @Override
    public boolean isDefinedAt(LogicalPlan node) {
      return node instanceof RelationTimeTravel travel
          && travel.relation() instanceof UnresolvedRelation relation
          && travel.timestamp().isDefined()
          && !(travel.timestamp().get() instanceof Literal)
          && !hasSubquery(travel.timestamp().get())
          && isPath(relation);
    }

    @Override
    public LogicalPlan apply(LogicalPlan node) {
      RelationTimeTravel travel = (RelationTimeTravel) node;
      return micros(travel.timestamp().get())
          .map(micros -> Literal.create(micros, DataTypes.TimestampType))
          .map(time -> travel.makeCopy(
              new Object[] {travel.relation(), Option.apply(time), travel.version()}))
          .orElse(node);
    }
  }

  private boolean isPath(UnresolvedRelation relation) {
    // Calling multipartIdentifier() would name a type of lists that differs between releases.
    scala.collection.Iterator<?> parts =
        ((scala.collection.Iterable<?>) relation.productElement(0)).iterator();
    String first = (String) parts.next();
    // The manager of catalogs is a class in some releases and an interface in others.
    return parts.hasNext()
        && session.conf().get("spark.sql.catalog." + first, "").startsWith(CATALOGS);
  }

  /** Returns the time; empty if Spark has to say what is wrong with the expression. */
  private Optional<Long> micros(Expression time) {
    try {
      Row row = session
          .sql("select unix_micros(cast(" + time.sql() + " as timestamp))")
          .head();
      return row.isNullAt(0) ? Optional.empty() : Optional.of(row.getLong(0));
    } catch (Exception e) {
      return Optional.empty();
    }
  }

  private static boolean hasSubquery(Expression expression) {
    AtomicBoolean found = new AtomicBoolean();
    expression.foreach(part -> {
      if (part instanceof PlanExpression<?>) {
        found.set(true);
      }
      return BoxedUnit.UNIT;
    });
    return found.get();
  }
}
