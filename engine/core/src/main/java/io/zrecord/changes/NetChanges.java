package io.zrecord.changes;

import java.io.Serializable;

/**
 * Says which records differ between two versions of a table, each once, however many commits are
 * between. A record that was inserted and deleted between is none of them. A record that was
 * inserted and got values was inserted, and one that got values and was deleted was deleted. A
 * record that got values several times was changed, in the fields of all of them. A task can take
 * this, or a part of an {@link io.zrecord.read.IndexSet}. Immutable.
 *
 * @param from the earlier version; −1 for the time before the first version
 * @param to the later version
 * @param records the records; {@code fields} has only fields that the later version has
 */
public record NetChanges(long from, long to, RecordChanges records) implements Serializable {}
