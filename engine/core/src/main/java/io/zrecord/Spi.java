package io.zrecord;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Marks what the modules of the engine need of each other, and what an engine on a cluster
 * implements or runs in its tasks: a type, or a member of a type that programs use otherwise.
 * Programs that read and write datasets do not need it, and it may change with each release.
 */
@Documented
@Target({ElementType.TYPE, ElementType.CONSTRUCTOR, ElementType.METHOD})
@Retention(RetentionPolicy.CLASS)
public @interface Spi {}
