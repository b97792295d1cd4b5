package io.zrecord.spark.rules;

import java.util.ArrayList;
import java.util.List;
import scala.collection.Iterable;
import scala.collection.Iterator;

/** Converts lists of Scala, whose interfaces differ between releases. Stateless. */
final class ScalaLists {
  private ScalaLists() {}

  /** Makes a list of Scala, as an object to be passed by reflection. */
  static Object of(List<?> elements) {
    try {
      Object list =
          Class.forName("scala.collection.immutable.Nil$").getField("MODULE$").get(null);
      for (int i = elements.size() - 1; i >= 0; i--) {
        list =
            list.getClass().getMethod("$colon$colon", Object.class).invoke(list, elements.get(i));
      }
      return list;
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("This release of Scala has other lists", e);
    }
  }

  /** Makes a vector of Scala, as an object to be passed by reflection. */
  static Object vector(List<?> elements) {
    return PlanNodes.called(of(elements), "toVector");
  }

  /** Copies a collection of Scala that has elements of one type. */
  static <T> List<T> copy(Object collection, Class<T> type) {
    List<T> copy = new ArrayList<>();
    Iterator<?> elements = ((Iterable<?>) collection).iterator();
    while (elements.hasNext()) {
      copy.add(type.cast(elements.next()));
    }
    return copy;
  }
}
