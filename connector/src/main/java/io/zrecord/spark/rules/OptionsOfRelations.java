package io.zrecord.spark.rules;

import io.zrecord.spark.catalog.ZRecordTable;
import io.zrecord.spark.metadata.MetadataTable;
import io.zrecord.spark.options.StorageSettings;
import io.zrecord.spark.options.ZRecordOptions;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.analysis.AnalysisContext;
import org.apache.spark.sql.catalyst.analysis.UnresolvedRelation;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.PlanExpression;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.View;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation;
import scala.PartialFunction;
import scala.runtime.BoxedUnit;

/**
 * Refuses a statement that names a dataset twice, {@code WITH} different options. Spark resolves a
 * name once in a statement and gives the options of the first place to all other places, so a tag
 * would be ignored. Changes no plan. Thread-safe.
 */
public final class OptionsOfRelations extends Rule<LogicalPlan> {
  private final SparkSession session;

  /** Creates the rule of a session. */
  public OptionsOfRelations(SparkSession session) {
    this.session = session;
  }

  /** The relations of one statement, views included, by the map in which Spark resolves them. */
  private record Statement(WeakReference<Object> relationCache, List<Seen> relations) {}

  /** A relation, by its name as it was written, and the version that Spark itself knows. */
  private record Seen(String name, List<Optional<String>> version, Map<String, String> options) {}

  private static final ThreadLocal<List<Statement>> STATEMENTS =
      ThreadLocal.withInitial(ArrayList::new);

  /** Whether this thread resolves a name for this rule, which is no part of the statement. */
  private static final ThreadLocal<Boolean> IS_RESOLVING = ThreadLocal.withInitial(() -> false);

  @Override
  public LogicalPlan apply(LogicalPlan plan) {
    if (!IS_RESOLVING.get()) {
      walk(plan, relationsOfStatement());
    }
    return plan;
  }

  /** Views are analysed on their own, but share the relations with the statement around them. */
  private static List<Seen> relationsOfStatement() {
    Object cache = AnalysisContext.get().relationCache();
    List<Statement> statements = STATEMENTS.get();
    statements.removeIf(statement -> statement.relationCache.get() == null);
    for (Statement statement : statements) {
      if (statement.relationCache.get() == cache) {
        return statement.relations;
      }
    }
    Statement added = new Statement(new WeakReference<>(cache), new ArrayList<>());
    statements.add(added);
    return added.relations;
  }

  private void walk(LogicalPlan plan, List<Seen> seen) {
    Subqueries subqueries = new Subqueries(seen);
    plan.foreach(node -> {
      if (node instanceof UnresolvedRelation relation) {
        compare(relation, seen);
      }
      node.transformExpressions(subqueries);
      return BoxedUnit.UNIT;
    });
  }

  /** Returns the options without what Spark says there of the target of a write. */
  private static Map<String, String> withoutPrivileges(Map<String, String> options) {
    Map<String, String> own = new HashMap<>(options);
    own.remove("__required_write_privileges__");
    return own;
  }

  private void compare(UnresolvedRelation relation, List<Seen> seen) {
    Seen found = new Seen(
        relation.tableName(),
        List.of(
            Optional.ofNullable(relation.options().get(ZRecordOptions.VERSION_AS_OF)),
            Optional.ofNullable(relation.options().get(ZRecordOptions.TIMESTAMP_AS_OF))),
        withoutPrivileges(relation.options()));
    for (Seen other : seen) {
      if (other.version.equals(found.version)
          && !other.options.equals(found.options)
          && isSameDataset(other.name, found.name)) {
        throw new IllegalArgumentException(
            "Cannot read " + found.name + " with the options " + shown(other.options) + " and "
                + shown(found.options)
                + " in one statement: Spark would take the first for both; use VERSION AS OF for a version"
                + " or tag, or make a temporary view of spark.read().option(…).load(…)");
      }
    }
    if (!seen.contains(found)) {
      seen.add(found);
    }
  }

  /** Returns the options without the values of Hadoop's settings, which may be credentials. */
  private static Map<String, String> shown(Map<String, String> options) {
    Map<String, String> shown = new TreeMap<>(options);
    shown.replaceAll((key, value) -> StorageSettings.isSetting(key) ? "…" : value);
    return shown;
  }

  private boolean isSameDataset(String one, String other) {
    Optional<String> dataset = dataset(one);
    return dataset.isPresent() && (one.equals(other) || dataset.equals(dataset(other)));
  }

  /** Returns the catalog and the full name of a dataset; empty if the name is of something else. */
  private Optional<String> dataset(String name) {
    AtomicReference<String> found = new AtomicReference<>();
    AtomicBoolean isView = new AtomicBoolean();
    IS_RESOLVING.set(true);
    try {
      session.table(name).queryExecution().analyzed().foreach(node -> {
        if (node instanceof View) {
          isView.set(true);
        } else if (node instanceof DataSourceV2Relation relation
            && (relation.table() instanceof ZRecordTable
                || relation.table() instanceof MetadataTable)
            && relation.identifier().isDefined()) {
          String catalog =
              relation.catalog().isDefined() ? relation.catalog().get().name() : "";
          found.set(catalog + "." + relation.identifier().get());
        }
        return BoxedUnit.UNIT;
      });
    } catch (Exception e) {
      // There is no table of this name, or it is a common table expression. Spark reports what is
      // wrong, if anything.
      return Optional.empty();
    } finally {
      IS_RESOLVING.remove();
    }
    return isView.get() ? Optional.empty() : Optional.ofNullable(found.get());
  }

  /** Walks the plans in expressions. The function is defined nowhere, so it changes nothing. */
  private final class Subqueries implements PartialFunction<Expression, Expression> {
    private final List<Seen> seen;

    Subqueries(List<Seen> seen) {
      this.seen = seen;
    }

    @Override
    public boolean isDefinedAt(Expression expression) {
      if (expression instanceof PlanExpression<?> subquery
          && subquery.plan() instanceof LogicalPlan plan) {
        walk(plan, seen);
      }
      return false;
    }

    @Override
    public Expression apply(Expression expression) {
      return expression;
    }
  }
}
