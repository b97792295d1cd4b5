package io.zrecord.spark.rules;

import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.trees.TreeNode;

/**
 * Makes and asks parts of plans whose constructors and methods have Scala's sequences, which differ
 * between releases. Stateless.
 */
final class PlanNodes {
  private PlanNodes() {}

  /** Calls the constructor of a part that has as many arguments. */
  static <T> T made(Class<T> type, Object... arguments) {
    try {
      for (Constructor<?> constructor : type.getConstructors()) {
        if (constructor.getParameterCount() == arguments.length) {
          return type.cast(constructor.newInstance(arguments));
        }
      }
      throw new NoSuchMethodException(type.getName());
    } catch (InvocationTargetException e) {
      throw new IllegalStateException("Cannot make a " + type.getSimpleName(), e.getCause());
    } catch (ReflectiveOperationException e) {
      throw unknown(e);
    }
  }

  /** Calls a method without arguments that returns one of Scala's sequences. */
  static Object called(Object node, String method) {
    try {
      return node.getClass().getMethod(method).invoke(node);
    } catch (ReflectiveOperationException e) {
      throw unknown(e);
    }
  }

  /** Returns the columns of a plan. */
  static List<Attribute> output(LogicalPlan plan) {
    return ScalaLists.copy(called(plan, "output"), Attribute.class);
  }

  /**
   * Returns a copy of a part with some other arguments.
   *
   * @param changed the new arguments by their positions
   */
  static <T extends TreeNode<T>> T copy(T node, Map<Integer, Object> changed) {
    Object[] arguments = new Object[node.productArity()];
    for (int i = 0; i < arguments.length; i++) {
      arguments[i] = changed.getOrDefault(i, node.productElement(i));
    }
    return node.makeCopy(arguments);
  }

  static IllegalStateException unknown(ReflectiveOperationException e) {
    return new IllegalStateException("This release of Spark has other plans", e);
  }
}
