package io.zrecord.internal.verify;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.errors.ZRecordException;
import io.zrecord.findings.Finding;
import io.zrecord.findings.Finding.Kind;
import io.zrecord.internal.format.Binding;
import io.zrecord.internal.format.FieldTables;
import io.zrecord.internal.format.RunRecord;
import io.zrecord.internal.format.Section;
import io.zrecord.internal.format.SlotSet;
import io.zrecord.internal.format.TablesJson;
import io.zrecord.internal.format.TablesSince;
import io.zrecord.internal.io.MutableFiles;
import io.zrecord.internal.shard.file.TablesFile;
import io.zrecord.internal.shard.layout.PatchFile;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.Promotions;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.TablesRef;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Checks a sealed shard as a manifest names it (FORMAT.md section 3). Belongs to one thread. */
public final class SealedShardCheck {
  private final CheckRun run;
  private final MutableFiles files;
  private final Depth depth;

  /** How much of a shard is checked. */
  public enum Depth {
    /** The existence and the length of all files, and the metadata in them. */
    FILES,
    /** Also every table and every value. */
    VALUES
  }

  public SealedShardCheck(CheckRun run, MutableFiles files, Depth depth) {
    this.run = run;
    this.files = files;
    this.depth = depth;
  }

  /**
   * Checks a shard of a table.
   *
   * @param schema the fields of the version that names the shard
   * @param firstIndex index of the shard's first record in that version
   */
  public void check(ShardSummary shard, RecordSchema schema, long firstIndex) {
    try (ChunkFiles chunks = ChunkFiles.ofShard(files, shard)) {
      chunks.check(run);
      PatchCheck check = new PatchCheck(run, files, depth, shard, firstIndex);
      PatchFile patch = check.open();
      run.beginSlots(firstIndex, patch == null ? null : patch.deleted());
      try {
        for (TablesRef ref : shard.tables()) {
          check(shard, ref, schema, firstIndex, chunks);
        }
      } finally {
        run.endSlots();
      }
      if (patch != null) {
        check.check(patch, schema, chunks);
      }
    }
  }

  private void check(
      ShardSummary shard, TablesRef ref, RecordSchema schema, long firstIndex, ChunkFiles chunks) {
    try (ShardTables tables = ShardTables.open(files, shard, ref)) {
      tables.checkFrame(run, shard, ref);
      int[] shardChunks = TablesFile.shardChunks(tables.path(), tables.json(), shard, ref);
      try (ChunkFiles renumbered = chunks.renumbered(shardChunks)) {
        checkFields(shard, ref, tables, schema, firstIndex, renumbered);
      }
      if (!tables.json().hasChecksums()) {
        run.found(
            Kind.NOTE,
            tables.path(),
            "the shard was written without checksums: damage of its values cannot be seen");
      }
    } catch (ZRecordException e) {
      String path = files.pathOf(shard.fileOf(ref));
      run.found(new Finding(Kind.META, path, null, firstIndex, shard.slots(), FileProblem.of(e)));
    }
  }

  private void checkFields(
      ShardSummary shard,
      TablesRef ref,
      ShardTables tables,
      RecordSchema schema,
      long firstIndex,
      ChunkFiles chunks) {
    List<FieldTables> fields = new ArrayList<>();
    for (int id : tables.json().fieldIds()) {
      Optional<FieldSpec> named = schema.find(id);
      String name = named.map(FieldSpec::name).orElse("field " + id);
      try {
        FieldTables field = tables.json().field(id);
        fields.add(field);
        if (!ref.hasField(id)) {
          continue; // Another file has the field by now; the chunks may be gone.
        }
        checkAgainst(tables.path(), field, named, shard);
        FieldSpec spec = new FieldSpec(id, name, field.type(), field.shape(), field.compression());
        checkField(tables, field, spec, firstIndex, chunks);
      } catch (ZRecordException e) {
        String problem = FileProblem.of(e);
        run.found(new Finding(Kind.RUNS, tables.path(), name, firstIndex, shard.slots(), problem));
      } catch (IllegalArgumentException | ArithmeticException e) {
        run.found(Kind.META, tables.path(), name, "it is invalid: " + e.getMessage());
      }
    }
    List<Section> since = checkSince(tables);
    if (depth == Depth.VALUES) {
      tables.checkGaps(run, fields, since);
    }
  }

  /**
   * Checks what the file says of its commit, which no reader of values looks at. Returns the
   * sections.
   */
  private List<Section> checkSince(ShardTables tables) {
    List<Section> sections = new ArrayList<>();
    try {
      TablesJson json = tables.json();
      TablesSince since = json.since();
      since.fields().forEach((id, slots) -> {
        if (slots.isPresent()) {
          sections.add(slots.section());
          Binding binding = new Binding(json.fileId(), id);
          TablesSince.decode(tables.path(), read(tables, slots), slots, binding, json.length());
        }
      });
      since.origins().ifPresent(origins -> {
        sections.add(origins.slots().section());
        sections.add(origins.places().section());
        origins.decode(
            tables.path(),
            json.fileId(),
            read(tables, origins.slots()),
            read(tables, origins.places()),
            json.length());
      });
    } catch (ZRecordException e) {
      run.found(Kind.META, tables.path(), FileProblem.of(e));
    }
    return sections;
  }

  private static byte[] read(ShardTables tables, SlotSet slots) {
    slots.sectionBytes(tables.path());
    return tables.read(slots.section());
  }

  private void checkAgainst(
      String path, FieldTables field, Optional<FieldSpec> named, ShardSummary shard) {
    named.ifPresent(spec -> {
      if (!Promotions.allows(field.type(), spec.type()) || !spec.shape().equals(field.shape())) {
        run.found(
            Kind.META,
            path,
            spec.name(),
            "it is " + field.type() + field.shape() + " here, but the manifest says " + spec.type()
                + spec.shape());
      }
      if (!spec.rules().isNullable() && field.absentCount() > 0) {
        run.found(
            Kind.COUNT,
            path,
            spec.name(),
            "it has " + field.absentCount() + " absent values, but the manifest says that none is"
                + " absent");
      }
    });
    Long bytes = shard.valueBytes().get(field.id());
    if (bytes != null && bytes != field.valueBytes()) {
      run.found(
          Kind.COUNT,
          path,
          named.map(FieldSpec::name).orElse(null),
          "it has " + field.valueBytes() + " bytes of values, but the manifest says " + bytes);
    }
  }

  private void checkField(
      ShardTables tables, FieldTables field, FieldSpec spec, long firstIndex, ChunkFiles chunks) {
    int width = spec.valueWidthBytes().orElse(-1);
    if (field.runs().bytes() > Integer.MAX_VALUE) {
      throw new CorruptDataException(
          tables.path(),
          "Cannot read " + tables.path() + ": its list of runs has "
              + field.runs().bytes() + " bytes");
    }
    List<RunRecord> runs = RunRecord.read(
        tables.path(),
        tables.read(field.runs()),
        tables.json(),
        field,
        width,
        new Binding(tables.json().shardId(), field.id()));
    if (depth == Depth.FILES) {
      return;
    }
    switch (runs.get(0).kind()) {
      case FIXED ->
        new RunsCheck(run, tables, field, spec.name(), width, firstIndex).check(runs, chunks);
      case VARIABLE -> {
        try (ValueCheck values = values(tables, spec, chunks)) {
          new VariableRunCheck(run, tables, field, spec.name(), firstIndex, chunks, values)
              .check(runs);
        }
      }
      case BLOCK -> {
        try (BlocksCheck check = new BlocksCheck(run, tables, field, spec, firstIndex)) {
          check.check(runs, chunks);
        }
      }
      case ENTRY -> checkEntries(tables, field, spec, firstIndex, chunks);
    }
  }

  private void checkEntries(
      ShardTables tables, FieldTables field, FieldSpec spec, long firstIndex, ChunkFiles chunks) {
    EntriesCheck.Amount amount = new EntriesCheck.Amount(field.absentCount(), field.valueBytes());
    EntriesCheck check = new EntriesCheck(run, spec, amount, firstIndex);
    try (EntryTables entries = new EntryTables(run, tables, field, spec.name(), firstIndex);
        ValueCheck values = values(tables, spec, chunks)) {
      check.check(entries, tables.json().length(), EntriesCheck.Overlay.NONE, values);
    }
    check.compareSums(tables.path());
  }

  private ValueCheck values(ShardTables tables, FieldSpec spec, ChunkFiles chunks) {
    return new ValueCheck(
        tables.json().shardId(), spec, tables.json().hasChecksums(), chunks, run.scratch);
  }
}
