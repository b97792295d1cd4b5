package io.zrecord.verify;

import io.zrecord.findings.Finding.Kind;
import io.zrecord.internal.format.ManifestNames;
import io.zrecord.internal.table.Manifest;
import io.zrecord.internal.verify.CheckRun;
import io.zrecord.storage.Storage;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Checks that each version is a valid successor of the version before (FORMAT.md section 7).
 * Belongs to one thread.
 */
final class VersionChain {
  /** Operations that may change what a table declares. */
  private static final Set<String> DECLARING = Set.of("declare", "overwrite");

  private final CheckRun run;
  private final Storage storage;
  private @Nullable Manifest before;

  VersionChain(CheckRun run, Storage storage) {
    this.run = run;
    this.storage = storage;
  }

  /**
   * Takes the versions in rising order.
   *
   * @param manifest empty if the version cannot be read; then nothing follows it
   */
  void add(Optional<Manifest> manifest) {
    Manifest last = before;
    if (manifest.isPresent() && last != null) {
      check(last, manifest.get());
    }
    before = manifest.orElse(null);
  }

  private void check(Manifest last, Manifest manifest) {
    if (!last.tableId().equals(manifest.tableId())) {
      found(
          manifest,
          "it is of table " + manifest.tableId() + ", but version " + last.version() + " is of "
              + last.tableId());
      return;
    }
    boolean isNext = manifest.version() == last.version() + 1;
    if (isNext && !manifest.previous().equals(Optional.of(last.commitId()))) {
      found(
          manifest,
          "it was made to follow commit " + manifest.previous().orElseThrow() + ", but version "
              + last.version() + " is of commit " + last.commitId());
      return;
    }
    if (last.timestampMillis() >= manifest.timestampMillis()
        || last.nextFieldId() > manifest.nextFieldId()
        || last.oldest() > manifest.oldest()) {
      found(
          manifest,
          "its time, its next field id or its oldest version is not that of a later version than "
              + last.version());
    }
    if (isNext && manifest.isCare() && !hasSameRecords(last, manifest)) {
      found(
          manifest,
          "operation '" + manifest.operation()
              + "' changes no records, but it has other shards, fields or transactions than version "
              + last.version());
    }
    if (isNext && !mayDeclare(manifest) && !last.declarations().equals(manifest.declarations())) {
      found(
          manifest,
          "operation '" + manifest.operation()
              + "' changes no declarations, but it has others than version " + last.version());
    }
  }

  private static boolean mayDeclare(Manifest manifest) {
    return manifest.isBeginning() || DECLARING.contains(manifest.operation());
  }

  private static boolean hasSameRecords(Manifest last, Manifest manifest) {
    return last.records().equals(manifest.records())
        && last.schema().equals(manifest.schema())
        && last.nextFieldId() == manifest.nextFieldId()
        && last.lists().equals(manifest.lists())
        && last.shards().equals(manifest.shards())
        && last.transactions().equals(manifest.transactions());
  }

  private void found(Manifest manifest, String text) {
    run.found(Kind.MANIFEST, storage.pathOf(ManifestNames.nameOf(manifest.version())), text);
  }
}
