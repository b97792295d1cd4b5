package io.zrecord.schema;

import java.io.Serializable;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The type of a nested value, as a tree (FORMAT.md section 8.1): lists, maps and structs of each
 * other, with single elements and tensors as leaves. Immutable.
 */
public sealed interface NestedType extends Serializable {
  /** Most lists, maps and structs within each other. */
  int MAX_DEPTH = 8;

  /** Most types in a tree, leaves included. */
  int MAX_TYPES = 1000;

  /** Returns the types directly within this type, in order. */
  List<NestedType> children();

  /** Returns the number of lists, maps and structs within each other; 0 for a leaf. */
  default int depth() {
    return children().stream().mapToInt(NestedType::depth).map(d -> d + 1).max().orElse(0);
  }

  /** Returns the number of types in the tree, this type included. */
  default int typeCount() {
    return 1 + children().stream().mapToInt(NestedType::typeCount).sum();
  }

  /** Makes the leaf of a single element. */
  static NestedType of(ElementType element) {
    return new Leaf(element, Shape.scalar());
  }

  /** Makes the leaf of a tensor. */
  static NestedType of(ElementType element, Shape shape) {
    return new Leaf(element, shape);
  }

  /** Makes the type of lists. */
  static NestedType listOf(NestedType element) {
    return new ListOf(element);
  }

  /** Makes the type of maps. */
  static NestedType mapOf(NestedType key, NestedType value) {
    return new MapOf(key, value);
  }

  /**
   * A single element, or a tensor of one shape.
   *
   * @param element type of an element
   * @param shape shape of the tensor, without a dimension of 0 or −1; scalar for a single element
   */
  record Leaf(ElementType element, Shape shape) implements NestedType {
    public Leaf {
      if (element.kind() == ElementType.Kind.NESTED) {
        throw new IllegalArgumentException(
            "A leaf has no type of its own; nest " + element + " directly");
      }
      boolean isOpen = shape.isVariable() || shape.dimensions().contains(0);
      if (isOpen || (!shape.isScalar() && element.widthBytes().isEmpty())) {
        throw new IllegalArgumentException("Type " + element + " with shape " + shape
            + " cannot be nested: dimensions are >= 1, and text and bytes have no shape; use a"
            + " list where the length differs");
      }
      try {
        Math.multiplyExact(element.widthBytes().orElse(1), shape.elementCount().orElseThrow());
      } catch (ArithmeticException e) {
        throw new IllegalArgumentException(
            "Type " + element + " with shape " + shape + " has values beyond 2147483647 bytes", e);
      }
    }

    @Override
    public List<NestedType> children() {
      return List.of();
    }

    /** Tells whether values have any length: text and bytes. */
    public boolean isVariable() {
      return element.widthBytes().isEmpty();
    }

    /** Returns the number of elements of a value. */
    public int elementCount() {
      return shape.elementCount().orElseThrow();
    }

    /** Returns the bytes of a value outside of nested values; 0 for text and bytes. */
    public int widthBytes() {
      return element.widthBytes().orElse(0) * elementCount();
    }

    @Override
    public String toString() {
      return element + (shape.isScalar() ? "" : shape.toString());
    }
  }

  /**
   * A list of any length.
   *
   * @param element type of an element, each of which may be absent
   */
  record ListOf(NestedType element) implements NestedType {
    @Override
    public List<NestedType> children() {
      return List.of(element);
    }

    @Override
    public String toString() {
      return "list<" + element + ">";
    }
  }

  /**
   * A list of entries. A key is never absent, and may appear more than once.
   *
   * @param key type of a key, without maps
   * @param value type of a value, each of which may be absent
   */
  record MapOf(NestedType key, NestedType value) implements NestedType {
    public MapOf {
      if (hasMap(key)) {
        throw new IllegalArgumentException("A map cannot be in a key of a map: " + key);
      }
    }

    private static boolean hasMap(NestedType type) {
      return type instanceof MapOf || type.children().stream().anyMatch(MapOf::hasMap);
    }

    @Override
    public List<NestedType> children() {
      return List.of(key, value);
    }

    @Override
    public String toString() {
      return "map<" + key + "," + value + ">";
    }
  }

  /**
   * A group of named values, each of which may be absent.
   *
   * @param members the members in order, at least one, with unique names
   */
  record StructOf(List<Member> members) implements NestedType {
    public StructOf {
      members = List.copyOf(members);
      Set<String> names = new HashSet<>();
      for (Member member : members) {
        if (!names.add(member.name())) {
          throw new IllegalArgumentException(
              "A struct has two members '" + member.name() + "'; names are unique");
        }
      }
      if (members.isEmpty()) {
        throw new IllegalArgumentException("A struct has at least one member");
      }
    }

    @Override
    public List<NestedType> children() {
      return members.stream().map(Member::type).toList();
    }

    @Override
    public String toString() {
      return members.stream()
          .map(member -> member.name() + ":" + member.type())
          .collect(Collectors.joining(",", "struct<", ">"));
    }
  }

  /**
   * A member of a struct.
   *
   * @param name as the name of a field
   * @param type type of its values
   */
  record Member(String name, NestedType type) implements Serializable {
    public Member {
      FieldSpec.requireIdAndName(1, name);
    }
  }
}
