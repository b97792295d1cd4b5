package io.zrecord.testing;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.methods;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.ArchConfiguration;
import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaMethod;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import io.zrecord.Spi;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Supplier;
import java.util.stream.Stream;

/** Rules that every module of the engine holds. Thread-safe. */
public final class ArchitectureRules {
  private final JavaClasses classes = withoutOthers(() -> new ClassFileImporter()
      .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
      .withImportOption(location -> !location.contains("-tests.jar"))
      .importPackages("io.zrecord"));

  /**
   * Imports classes without reading those of Java and of libraries that they use. Of these the
   * rules need the names only.
   */
  private static JavaClasses withoutOthers(Supplier<JavaClasses> importing) {
    ArchConfiguration.get().setResolveMissingDependenciesFromClassPath(false);
    try {
      return importing.get();
    } finally {
      ArchConfiguration.get().reset();
    }
  }

  /** Returns the classes of the tested module, and of the modules that it uses. */
  public JavaClasses classes() {
    return classes;
  }

  /**
   * Checks that no package is in a cycle of packages. The mark {@link Spi} ties none to another.
   */
  public void packagesHaveNoCycles() {
    slices()
        .matching("io.(**)")
        .should()
        .beFreeOfCycles()
        .ignoreDependency(DescribedPredicate.alwaysTrue(), JavaClass.Predicates.type(Spi.class))
        .check(classes);
  }

  /** Checks that no package has classes in two modules, which the module path refuses. */
  public void noPackageIsSplit() {
    Map<String, Set<String>> places = new TreeMap<>();
    for (JavaClass type : classes) {
      String file = type.getSource().orElseThrow().getUri().toString();
      places
          .computeIfAbsent(type.getPackageName(), unused -> new TreeSet<>())
          .add(file.substring(0, file.indexOf("/io/zrecord/")));
    }
    assertThat(places).allSatisfy((name, found) -> assertThat(found).as(name).hasSize(1));
  }

  /** Checks that only one package touches channels and maps. */
  public void onlyOnePackageTouchesChannelsAndMaps() {
    noClasses()
        .that()
        .resideOutsideOfPackage("io.zrecord.internal.io")
        .should()
        .dependOnClassesThat()
        // What somebody else opened may be written to, and any failure be told.
        .haveNameMatching(
            "java\\.nio\\.(channels\\.(?!GatheringByteChannel$|ClosedByInterruptException$).*|MappedByteBuffer)")
        .check(classes);
  }

  /** Checks that nothing uses Spark, Hadoop or Scala. */
  public void theEngineKnowsNoSpark() {
    noClasses()
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("org.apache.spark..", "org.apache.hadoop..", "scala..")
        .check(classes);
  }

  /** Checks that no method of the public packages shows a type of the internal ones. */
  public void noPublicSignatureShowsAnInternalType() {
    methods()
        .that()
        .arePublic()
        .and()
        .areDeclaredInClassesThat()
        .arePublic()
        .and()
        .areDeclaredInClassesThat()
        .resideOutsideOfPackage("io.zrecord.internal..")
        .should(notShowInternalTypes())
        .check(classes);
  }

  private static ArchCondition<JavaMethod> notShowInternalTypes() {
    return new ArchCondition<>("not show types of io.zrecord.internal") {
      @Override
      public void check(JavaMethod method, ConditionEvents events) {
        boolean shows = Stream.concat(
                Stream.of(method.getRawReturnType()), method.getRawParameterTypes().stream())
            .anyMatch(type -> type.getPackageName().startsWith("io.zrecord.internal"));
        if (shows) {
          events.add(SimpleConditionEvent.violated(method, method.getDescription()));
        }
      }
    };
  }
}
