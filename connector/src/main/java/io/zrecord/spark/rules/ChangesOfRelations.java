package io.zrecord.spark.rules;

import io.zrecord.spark.catalog.ZRecordTable;
import io.zrecord.spark.catalog.ZRecordTables;
import io.zrecord.spark.changes.ChangesTable;
import io.zrecord.spark.options.ChangesConf;
import io.zrecord.spark.options.StreamReadConf;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute;
import org.apache.spark.sql.catalyst.analysis.UnresolvedRelation;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.View;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.catalyst.streaming.StreamingRelationV2;
import org.apache.spark.sql.catalyst.trees.TreeNodeTag;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation;
import org.jspecify.annotations.Nullable;
import scala.Option;
import scala.PartialFunction;
import scala.collection.Iterable;
import scala.runtime.BoxedUnit;

/**
 * Puts the changes of a table into the place of a table that is named with options which ask for
 * changes. Spark loads a table by its name before the options are known, and changes have other
 * columns. A name in SQL may stand below a {@code *}, which Spark would replace by the columns of
 * the table, so such a name is kept from being resolved until the changes are in its place.
 * Stateless.
 */
public final class ChangesOfRelations extends Rule<LogicalPlan> {
  /** A column of which nothing is known, which a name is filtered by meanwhile. */
  private static final String WAITS = "zrecord: changes";

  /** The same, if only defaults of the session ask for changes. */
  private static final String WAITS_BY_DEFAULT = "zrecord: changes by default";

  private static final TreeNodeTag<Boolean> IS_WAITING = new TreeNodeTag<>(WAITS);

  @Override
  public LogicalPlan apply(LogicalPlan plan) {
    return plan.resolveOperatorsUp(new Relations());
  }

  /** Keeps names waiting. Runs before Spark looks for tables. Stateless. */
  public static final class Early extends Rule<LogicalPlan> {
    @Override
    public LogicalPlan apply(LogicalPlan plan) {
      return Transforms.ofAnalyzed(() -> plan.transformUpWithSubqueries(new Names()));
    }
  }

  private static boolean waits(LogicalPlan node) {
    return node instanceof Filter filter
        && filter.condition() instanceof UnresolvedAttribute column
        && (column.name().equals(WAITS) || column.name().equals(WAITS_BY_DEFAULT));
  }

  private static final class Names implements PartialFunction<LogicalPlan, LogicalPlan> {
    @Override
    public boolean isDefinedAt(LogicalPlan node) {
      return node instanceof UnresolvedRelation relation
          && node.getTagValue(IS_WAITING).isEmpty()
          && (relation.isStreaming()
              ? StreamReadConf.asksForChanges(relation.options())
              : !ChangesConf.among(relation.options()).isEmpty());
    }

    @Override
    public LogicalPlan apply(LogicalPlan node) {
      // The node itself may be analyzed once more, as part of another statement.
      LogicalPlan name = node.makeCopy(parts(node));
      name.setTagValue(IS_WAITING, true);
      boolean isByDefault = node instanceof UnresolvedRelation relation
          && relation.isStreaming()
          && !StreamReadConf.asksForChangesItself(relation.options());
      return new Filter(UnresolvedAttribute.quoted(isByDefault ? WAITS_BY_DEFAULT : WAITS), name);
    }
  }

  private static Object[] parts(LogicalPlan node) {
    return IntStream.range(0, node.productArity())
        .mapToObj(node::productElement)
        .toArray();
  }

  private static final class Relations implements PartialFunction<LogicalPlan, LogicalPlan> {
    @Override
    public boolean isDefinedAt(LogicalPlan node) {
      return isBatch(node)
          || isStream(node)
          || (waits(node) && ((Filter) node).child().resolved());
    }

    @Override
    public LogicalPlan apply(LogicalPlan node) {
      if (node instanceof Filter filter) {
        if (((UnresolvedAttribute) filter.condition()).name().equals(WAITS)) {
          requireNoView(filter.child());
        }
        return filter.child();
      }
      return node instanceof DataSourceV2Relation relation
          ? changes(relation)
          : changes((StreamingRelationV2) node);
    }
  }

  private static boolean isBatch(LogicalPlan node) {
    return node instanceof DataSourceV2Relation relation
        && relation.table() instanceof ZRecordTable
        && ChangesConf.ofRelation(relation.options()).isPresent();
  }

  private static boolean isStream(LogicalPlan node) {
    return node instanceof StreamingRelationV2 relation
        && relation.table() instanceof ZRecordTable
        && StreamReadConf.asksForChanges(relation.extraOptions());
  }

  private static LogicalPlan changes(DataSourceV2Relation relation) {
    ZRecordTable table = (ZRecordTable) relation.table();
    ChangesConf conf = ChangesConf.ofRelation(relation.options()).orElseThrow();
    return replaced(relation, table, ZRecordTables.changesOf(table, conf));
  }

  private static LogicalPlan changes(StreamingRelationV2 relation) {
    ZRecordTable table = (ZRecordTable) relation.table();
    return replaced(relation, table, ZRecordTables.streamOfChanges(table));
  }

  /** Spark gives no options to the tables of a view. */
  private static void requireNoView(LogicalPlan named) {
    AtomicBoolean isView = new AtomicBoolean();
    AtomicBoolean isOurs = new AtomicBoolean();
    named.foreach(node -> {
      isView.set(isView.get() || node instanceof View);
      isOurs.set(isOurs.get()
          || table(node) instanceof ZRecordTable
          || table(node) instanceof ChangesTable);
      return BoxedUnit.UNIT;
    });
    if (isView.get() && isOurs.get()) {
      throw new IllegalArgumentException("Cannot read the changes of a view; name a table, or make"
          + " a view of the changes of a table");
    }
  }

  private static @Nullable Table table(LogicalPlan node) {
    if (node instanceof DataSourceV2Relation relation) {
      return relation.table();
    }
    return node instanceof StreamingRelationV2 relation ? relation.table() : null;
  }

  /**
   * Puts another table and its columns into a relation. The relation loses its name, by which Spark
   * would load the table without the options again. What the relation has besides differs between
   * releases.
   */
  private static LogicalPlan replaced(LogicalPlan relation, Table table, ChangesTable changes) {
    DataSourceV2Relation made =
        DataSourceV2Relation.create(changes, Option.empty(), Option.empty());
    Object output = made.productElement(1);
    Object[] parts = parts(relation);
    for (int i = 0; i < parts.length; i++) {
      if (parts[i] == table) {
        parts[i] = changes;
      } else if (parts[i] instanceof Iterable<?>) {
        parts[i] = output;
      } else if (parts[i] instanceof Option<?> name
          && name.isDefined()
          && !(name.get() instanceof LogicalPlan)) {
        parts[i] = Option.empty();
      }
    }
    return relation.makeCopy(parts);
  }
}
