/** A trigger of the application on its contacts, or on another table. */
export const trigger = (
  when: string,
  body: string,
  { name = "zzz", on = "salesforce.contact", level = "ROW" } = {},
): string => `
  CREATE FUNCTION public."${name}"() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${body}; RETURN coalesce(NEW, OLD); END $$;
  CREATE TRIGGER "${name}" ${when} ON ${on} FOR EACH ${level} EXECUTE FUNCTION public."${name}"()`;

/** Writes to the row that fires the trigger, three times at most. */
export const numbered =
  "UPDATE salesforce.contact SET title = title || '+' WHERE id = NEW.id AND title NOT LIKE '%+++'";
const resets =
  "IF NEW.title <> OLD.title THEN UPDATE salesforce.contact SET title = OLD.title WHERE id = NEW.id AND pg_trigger_depth() < 2; END IF";
const references = (column: string, to: string, action: string) =>
  `ALTER TABLE salesforce.contact ADD FOREIGN KEY (${column}) REFERENCES ${to} ON DELETE ${action}`;

/** What an application has made, and what it then does. */
interface Case {
  readonly given: readonly string[];
  /** Each is a message of its own; several statements in one are one transaction. */
  readonly when: readonly string[];
}

/** By the name of the application's trigger: `A` sorts before those of foreign keys, `RI_…`, and before ours. */
const byName = (name: string, of: (name: string) => Case): Readonly<Record<string, Case>> => ({
  [`${name}, by a trigger before ours`]: of("A"),
  [`${name}, by a trigger after ours`]: of("zzz"),
});

/** Each must be logged in the order of causes. */
export const CASES: Readonly<Record<string, Case>> = {
  ...byName("a foreign key's CASCADE, and a write to the row before it or after it", (name) => ({
    given: [
      references("company", "public.company", "CASCADE"),
      trigger("AFTER DELETE", "UPDATE salesforce.contact SET title = title || OLD.id WHERE company = 3 - OLD.id", {
        name,
        on: "public.company",
      }),
    ],
    when: ["DELETE FROM public.company WHERE id < 3"],
  })),
  ...byName("a foreign key's CASCADE, and the row made again", (name) => ({
    given: [
      references("company", "public.company", "CASCADE"),
      trigger(
        "AFTER DELETE",
        "INSERT INTO salesforce.contact (id, lastname, title) VALUES (OLD.id, 'Again', 'again')",
        {
          name,
        },
      ),
    ],
    when: ["DELETE FROM public.company WHERE id < 3"],
  })),
  ...byName("a foreign key's CASCADE to rows that were inserted meanwhile", (name) => ({
    given: [
      references("company", "public.company", "CASCADE DEFERRABLE INITIALLY DEFERRED"),
      trigger(
        "AFTER DELETE",
        "IF OLD.id = 1 THEN INSERT INTO salesforce.contact (id, lastname, title, company) VALUES (9, 'Short', 'x', 2); END IF",
        {
          name,
          on: "public.company",
        },
      ),
    ],
    when: ["DELETE FROM public.company WHERE id < 3"],
  })),
  ...byName("a foreign key's SET NULL, and a trigger that follows it", (name) => ({
    given: [
      references("company", "public.company", "SET NULL"),
      trigger("BEFORE UPDATE", "IF NEW.company IS NULL AND OLD.company > 0 THEN NEW.title := 'alone'; END IF", {
        name: "set",
      }),
      trigger("AFTER UPDATE", numbered, { name }),
    ],
    when: ["DELETE FROM public.company WHERE id < 3"],
  })),
  ...byName("a foreign key's SET NULL after another statement wrote the row", (name) => ({
    given: [
      references("company", "public.company", "SET NULL"),
      trigger("BEFORE UPDATE", "IF NEW.company IS NULL AND OLD.company > 0 THEN NEW.title := 'alone'; END IF", {
        name: "set",
      }),
      trigger("AFTER UPDATE", "UPDATE salesforce.contact SET title = 'of ' || NEW.name WHERE company = NEW.id", {
        name,
        on: "public.company",
      }),
    ],
    when: [
      "UPDATE public.company SET name = upper(name); DELETE FROM public.company WHERE id = 2; DELETE FROM public.company WHERE id = 1",
    ],
  })),
  ...byName("a foreign key to the table itself, and rows that come again", (name) => ({
    given: [
      references("boss", "salesforce.contact", "CASCADE"),
      trigger(
        "AFTER DELETE",
        "INSERT INTO salesforce.contact (id, lastname, title) VALUES (OLD.id, 'Again', 'again')",
        {
          name,
        },
      ),
    ],
    when: ["DELETE FROM salesforce.contact WHERE id = 1"],
  })),
  "a trigger that takes the change back": {
    given: [trigger("AFTER UPDATE", resets)],
    when: ["UPDATE salesforce.contact SET title = 'other'"],
  },
  "two statements of which the second takes the first back": {
    given: [],
    when: [
      "BEGIN",
      "UPDATE salesforce.contact SET title = 'other'",
      "UPDATE salesforce.contact SET title = 'first'",
      "COMMIT",
    ],
  },
  "statements of one transaction with nested ones each": {
    given: [trigger("AFTER INSERT OR UPDATE", numbered)],
    when: [
      "BEGIN",
      "INSERT INTO salesforce.contact (id, lastname, title) VALUES (5, 'Franklin', '')",
      "UPDATE salesforce.contact SET title = '' WHERE id > 3",
      "DELETE FROM salesforce.contact WHERE id = 5",
      "INSERT INTO salesforce.contact (id, lastname, title) VALUES (5, 'Franklin', 'x')",
      "UPDATE salesforce.contact SET title = '', email = 'e' WHERE id = 5",
      "COMMIT",
    ],
  },
  "several statements of one message and a DO block": {
    given: [trigger("AFTER INSERT OR UPDATE", numbered)],
    when: [
      `UPDATE salesforce.contact SET title = ''; UPDATE salesforce.contact SET title = 'x' WHERE id < 3;
       DO $$ BEGIN FOR i IN 1..3 LOOP UPDATE salesforce.contact SET title = 'round ' || i WHERE id = i; END LOOP; END $$`,
    ],
  },
  "writes by the trigger of a table that is not mapped, before a statement": {
    given: [
      trigger("AFTER UPDATE", "UPDATE salesforce.contact SET title = NEW.name WHERE company = NEW.id", {
        on: "public.company",
      }),
    ],
    when: [
      "BEGIN",
      "UPDATE public.company SET name = upper(name)",
      "UPDATE salesforce.contact SET title = 'later'",
      "UPDATE public.company SET name = lower(name)",
      "DELETE FROM salesforce.contact WHERE id = 2",
      "COMMIT",
    ],
  },
  "a trigger that catches its error": {
    given: [
      trigger(
        "AFTER INSERT OR UPDATE",
        `BEGIN ${numbered}; PERFORM 1 / (length(NEW.title) % 2); EXCEPTION WHEN division_by_zero THEN
        UPDATE salesforce.contact SET email = 'caught' WHERE id = NEW.id AND email IS NULL; END`,
      ),
    ],
    when: [
      "UPDATE salesforce.contact SET title = CASE WHEN id < 3 THEN 'a' ELSE 'ab' END",
      "INSERT INTO salesforce.contact (lastname, title, id) VALUES ('Franklin', 'ab', 5), ('Meitner', 'abc', 6)",
    ],
  },
  "a savepoint that is rolled back": {
    given: [trigger("AFTER INSERT OR UPDATE", numbered)],
    when: [
      "BEGIN",
      "UPDATE salesforce.contact SET title = '' WHERE id < 3",
      "SAVEPOINT here",
      "UPDATE salesforce.contact SET title = 'gone'",
      "ROLLBACK TO here",
      "UPDATE salesforce.contact SET title = '' WHERE id > 1",
      "COMMIT",
    ],
  },
  "a statement that fails within a trigger": {
    given: [
      trigger(
        "AFTER UPDATE",
        `BEGIN UPDATE salesforce.contact SET id = 1 WHERE id = 2 AND NEW.id = 2; EXCEPTION WHEN unique_violation THEN
        UPDATE salesforce.contact SET email = 'caught' WHERE id = NEW.id AND email IS NULL; END`,
      ),
    ],
    when: ["UPDATE salesforce.contact SET title = 'x'"],
  },
  "functions that a statement calls": {
    given: [
      `CREATE FUNCTION public.number(bigint) RETURNS text LANGUAGE plpgsql AS $$ BEGIN
         UPDATE salesforce.contact SET title = title || 'a' WHERE id = $1;
         UPDATE salesforce.contact SET title = title || 'b' WHERE id = $1;
         RETURN 'numbered'; END $$`,
    ],
    when: [
      "INSERT INTO salesforce.contact (id, lastname, title) VALUES (5, 'Franklin', ''), (6, 'Meitner', '') RETURNING public.number(id)",
      "UPDATE salesforce.contact SET title = 'x' RETURNING public.number(id)",
      "WITH one AS (UPDATE salesforce.contact SET title = 'y' RETURNING id) SELECT public.number(id) FROM one ORDER BY id",
    ],
  },
  "a trigger that makes room for a new row": {
    given: [trigger("BEFORE INSERT", "DELETE FROM salesforce.contact WHERE id = NEW.id")],
    when: [
      "INSERT INTO salesforce.contact (id, lastname, title) VALUES (4, 'Ride', 'first'), (5, 'Franklin', ''), (1, 'Meitner', '')",
    ],
  },
  "a trigger that makes room for a new row, and one that numbers it": {
    given: [
      trigger("BEFORE INSERT", "DELETE FROM salesforce.contact WHERE id = NEW.id"),
      trigger("AFTER INSERT", numbered, { name: "A" }),
    ],
    when: ["INSERT INTO salesforce.contact (id, lastname, title) VALUES (4, 'Ride', 'first'), (1, 'Meitner', '')"],
  },
  "a trigger that keeps the last of several equal rows": {
    given: [trigger("BEFORE INSERT", "DELETE FROM salesforce.contact WHERE lastname = NEW.lastname")],
    when: [
      "INSERT INTO salesforce.contact (id, lastname, title) VALUES (5, 'Ride', ''), (6, 'Ride', ''), (7, 'Ride', '')",
    ],
  },
  "a trigger that leaves one row the first": {
    given: [
      trigger(
        "BEFORE INSERT OR UPDATE",
        "UPDATE salesforce.contact SET title = 'other' WHERE title = 'first' AND id <> NEW.id AND NEW.title = 'first'",
      ),
    ],
    when: [
      "INSERT INTO salesforce.contact (id, lastname, title) VALUES (5, 'Franklin', 'first'), (6, 'Meitner', 'first')",
    ],
  },
  "a row that its own trigger deletes": {
    given: [
      trigger("AFTER INSERT OR UPDATE", "DELETE FROM salesforce.contact WHERE id = NEW.id AND NEW.title = 'away'"),
    ],
    when: [
      "INSERT INTO salesforce.contact (id, lastname, title) VALUES (5, 'Franklin', 'away'), (6, 'Meitner', 'here')",
      "UPDATE salesforce.contact SET title = 'away' WHERE id < 3",
    ],
  },
  "a mapped column that is renamed meanwhile": {
    given: [trigger("AFTER INSERT OR UPDATE", numbered), "ALTER TABLE salesforce.contact RENAME email TO mail"],
    when: [
      "INSERT INTO salesforce.contact (id, lastname, title) VALUES (5, 'Franklin', '')",
      "UPDATE salesforce.contact SET title = ''",
      "DELETE FROM salesforce.contact WHERE id = 1",
    ],
  },
  "a table that has another name meanwhile": {
    given: [
      trigger("AFTER INSERT OR UPDATE", "UPDATE salesforce.person SET title = 'x' WHERE id = NEW.id AND title = ''"),
    ],
    when: [
      "ALTER TABLE salesforce.contact RENAME TO person",
      "INSERT INTO salesforce.person (id, lastname, title) VALUES (5, 'Franklin', '')",
      "UPDATE salesforce.person SET title = ''",
      "ALTER TABLE salesforce.person RENAME TO contact",
    ],
  },
};
