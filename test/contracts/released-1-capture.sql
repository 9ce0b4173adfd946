-- Triggers and functions as version 0.2 put them on the contact table of the tests' samples.
DROP TRIGGER IF EXISTS "_bridge_insert" ON "salesforce"."contact";
DROP TRIGGER IF EXISTS "_bridge_update" ON "salesforce"."contact";
DROP TRIGGER IF EXISTS "_bridge_delete" ON "salesforce"."contact";
DROP TRIGGER IF EXISTS "_bridge_truncate" ON "salesforce"."contact";
DROP TRIGGER IF EXISTS "_bridge_rekey" ON "salesforce"."contact";
DROP TRIGGER IF EXISTS "zz_bridge_insert" ON "salesforce"."contact";
DROP TRIGGER IF EXISTS "zz_bridge_update" ON "salesforce"."contact";
ALTER TABLE "salesforce"."contact" ALTER COLUMN _ab_lastop DROP DEFAULT;
DO $bridge$ DECLARE one record; BEGIN
    FOR one IN SELECT t.tgname, t.tgrelid::regclass AS on_table
      FROM pg_trigger t JOIN pg_proc p ON p.oid = t.tgfoid JOIN pg_class c ON c.oid = t.tgrelid
      WHERE p.pronamespace = '"salesforce"'::regnamespace AND p.proname IN ('_bridge_insert_contact', '_bridge_update_contact', '_bridge_delete_contact', '_bridge_truncate_contact', '_bridge_rekey_contact', '_bridge_mark_contact')
        AND t.tgrelid <> '"salesforce"."contact"'::regclass AND c.relpersistence <> 't'
        AND pg_has_role(c.relowner, 'USAGE')
    LOOP EXECUTE format('DROP TRIGGER IF EXISTS %I ON %s', one.tgname, one.on_table); END LOOP;
  END $bridge$;
ALTER TABLE "salesforce"."contact" ALTER COLUMN _ab_lastop SET DEFAULT 'PENDING';
CREATE OR REPLACE FUNCTION "salesforce"."_bridge_insert_contact"() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = pg_catalog, pg_temp SET timezone = 'UTC' SET datestyle = 'ISO, MDY' SET enable_nestloop = 'off'
  AS $bridge$ BEGIN IF pg_has_role((SELECT c.relowner FROM pg_class c WHERE c.oid = TG_RELID), 'USAGE') IS NOT TRUE THEN RETURN NULL; END IF;
    INSERT INTO "salesforce"."_trigger_log" (action, table_name, record_id, sfid, old, "values") SELECT 'INSERT', 'contact', n."id", n.sfid, NULL, jsonb_object(ARRAY['email', 'key__c', 'lastname', 'name'], ARRAY[n."email"::text, n."key__c"::text, n."lastname"::text, n."name"::text])
    FROM new_rows n;
    RETURN NULL;
  END $bridge$;
CREATE OR REPLACE FUNCTION "salesforce"."_bridge_update_contact"() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = pg_catalog, pg_temp SET timezone = 'UTC' SET datestyle = 'ISO, MDY' SET enable_nestloop = 'off'
  AS $bridge$ BEGIN IF pg_has_role((SELECT c.relowner FROM pg_class c WHERE c.oid = TG_RELID), 'USAGE') IS NOT TRUE THEN RETURN NULL; END IF;
    INSERT INTO "salesforce"."_trigger_log" (action, table_name, record_id, sfid, old, "values") SELECT 'UPDATE', 'contact', n."id", n.sfid, ('{' || array_to_string(ARRAY[CASE WHEN (ROW(o."email") IS DISTINCT FROM ROW(n."email")) THEN '"email":' || coalesce(to_json(o."email"::text)::text, 'null') END, CASE WHEN (ROW(o."key__c") IS DISTINCT FROM ROW(n."key__c")) THEN '"key__c":' || coalesce(to_json(o."key__c"::text)::text, 'null') END, CASE WHEN (ROW(o."lastname") IS DISTINCT FROM ROW(n."lastname")) THEN '"lastname":' || coalesce(to_json(o."lastname"::text)::text, 'null') END, CASE WHEN (ROW(o."name") IS DISTINCT FROM ROW(n."name")) THEN '"name":' || coalesce(to_json(o."name"::text)::text, 'null') END], ',') || '}')::jsonb, ('{' || array_to_string(ARRAY[CASE WHEN (ROW(o."email") IS DISTINCT FROM ROW(n."email")) THEN '"email":' || coalesce(to_json(n."email"::text)::text, 'null') END, CASE WHEN (ROW(o."key__c") IS DISTINCT FROM ROW(n."key__c")) THEN '"key__c":' || coalesce(to_json(n."key__c"::text)::text, 'null') END, CASE WHEN (ROW(o."lastname") IS DISTINCT FROM ROW(n."lastname")) THEN '"lastname":' || coalesce(to_json(n."lastname"::text)::text, 'null') END, CASE WHEN (ROW(o."name") IS DISTINCT FROM ROW(n."name")) THEN '"name":' || coalesce(to_json(n."name"::text)::text, 'null') END], ',') || '}')::jsonb
    FROM old_rows o JOIN new_rows n ON n."id" = o."id"
    WHERE (ROW(o."email", o."key__c", o."lastname", o."name") IS DISTINCT FROM ROW(n."email", n."key__c", n."lastname", n."name"));
    RETURN NULL;
  END $bridge$;
CREATE OR REPLACE FUNCTION "salesforce"."_bridge_delete_contact"() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = pg_catalog, pg_temp SET timezone = 'UTC' SET datestyle = 'ISO, MDY' SET enable_nestloop = 'off'
  AS $bridge$ BEGIN IF pg_has_role((SELECT c.relowner FROM pg_class c WHERE c.oid = TG_RELID), 'USAGE') IS NOT TRUE THEN RETURN NULL; END IF;
    INSERT INTO "salesforce"."_trigger_log" (action, table_name, record_id, sfid, old, "values") SELECT 'DELETE', 'contact', o."id", o.sfid, jsonb_object(ARRAY['email', 'key__c', 'lastname', 'name'], ARRAY[o."email"::text, o."key__c"::text, o."lastname"::text, o."name"::text]), NULL
    FROM old_rows o;
    RETURN NULL;
  END $bridge$;
CREATE OR REPLACE FUNCTION "salesforce"."_bridge_truncate_contact"() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = pg_catalog, pg_temp SET timezone = 'UTC' SET datestyle = 'ISO, MDY' SET enable_nestloop = 'off'
  AS $bridge$ BEGIN
    RAISE WARNING 'TRUNCATE of % deletes nothing in Salesforce', 'contact'
      USING HINT = 'The records stay there. Use DELETE to delete them, or reload the mapping to get the rows back.';
    RETURN NULL;
  END $bridge$;
CREATE OR REPLACE FUNCTION "salesforce"."_bridge_rekey_contact"() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = pg_catalog, pg_temp SET timezone = 'UTC' SET datestyle = 'ISO, MDY' SET enable_nestloop = 'off'
  AS $bridge$ BEGIN IF pg_has_role((SELECT c.relowner FROM pg_class c WHERE c.oid = TG_RELID), 'USAGE') IS NOT TRUE THEN RETURN NULL; END IF;
    UPDATE "salesforce"."_trigger_log" SET record_id = NEW."id"
      WHERE table_name = 'contact' AND record_id = OLD."id" AND processed_at IS NULL;
    UPDATE "salesforce"."_trigger_log" SET record_id = NEW."id"
      WHERE table_name = 'contact' AND record_id = OLD."id" AND last_operation = 'FAILED';
    UPDATE "salesforce"."_trigger_log" SET record_id = NEW."id"
      WHERE table_name = 'contact' AND record_id = OLD."id" AND row_owed;
    INSERT INTO "salesforce"."_trigger_log" (action, table_name, record_id, sfid, old, "values")
      VALUES ('UPDATE', 'contact', NEW."id", NEW.sfid, '{}', jsonb_object(ARRAY['email', 'key__c', 'lastname', 'name'], ARRAY[NEW."email"::text, NEW."key__c"::text, NEW."lastname"::text, NEW."name"::text]));
    RETURN NULL;
  END $bridge$;
CREATE OR REPLACE FUNCTION "salesforce"."_bridge_mark_contact"() RETURNS trigger
  LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
  AS $bridge$ BEGIN
    NEW._ab_lastop := 'PENDING';
    NEW._ab_err := NULL;
    RETURN NEW;
  END $bridge$;

    CREATE TRIGGER _bridge_insert AFTER INSERT ON "salesforce"."contact" REFERENCING NEW TABLE AS new_rows
      FOR EACH STATEMENT WHEN ((current_setting('bridge.in_sync', true) IS DISTINCT FROM 'contact' OR pg_trigger_depth() > 0)) EXECUTE FUNCTION "salesforce"."_bridge_insert_contact"();
    CREATE TRIGGER _bridge_update AFTER UPDATE ON "salesforce"."contact" REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
      FOR EACH STATEMENT WHEN ((current_setting('bridge.in_sync', true) IS DISTINCT FROM 'contact' OR pg_trigger_depth() > 0)) EXECUTE FUNCTION "salesforce"."_bridge_update_contact"();
    CREATE TRIGGER _bridge_delete AFTER DELETE ON "salesforce"."contact" REFERENCING OLD TABLE AS old_rows
      FOR EACH STATEMENT WHEN ((current_setting('bridge.in_sync', true) IS DISTINCT FROM 'contact' OR pg_trigger_depth() > 0)) EXECUTE FUNCTION "salesforce"."_bridge_delete_contact"();
    CREATE TRIGGER _bridge_truncate AFTER TRUNCATE ON "salesforce"."contact" FOR EACH STATEMENT EXECUTE FUNCTION "salesforce"."_bridge_truncate_contact"();
    CREATE TRIGGER _bridge_rekey AFTER UPDATE OF "id" ON "salesforce"."contact"
      FOR EACH ROW WHEN (OLD."id" IS DISTINCT FROM NEW."id") EXECUTE FUNCTION "salesforce"."_bridge_rekey_contact"();
    CREATE TRIGGER zz_bridge_insert BEFORE INSERT ON "salesforce"."contact"
      FOR EACH ROW WHEN ((NEW._ab_lastop IS DISTINCT FROM 'PENDING' OR NEW._ab_err IS NOT NULL) AND (current_setting('bridge.in_sync', true) IS DISTINCT FROM 'contact' OR pg_trigger_depth() > 0)) EXECUTE FUNCTION "salesforce"."_bridge_mark_contact"();
    CREATE TRIGGER zz_bridge_update BEFORE UPDATE ON "salesforce"."contact"
      FOR EACH ROW WHEN ((ROW(OLD."email", OLD."key__c", OLD."lastname", OLD."name") IS DISTINCT FROM ROW(NEW."email", NEW."key__c", NEW."lastname", NEW."name")) AND (current_setting('bridge.in_sync', true) IS DISTINCT FROM 'contact' OR pg_trigger_depth() > 0)) EXECUTE FUNCTION "salesforce"."_bridge_mark_contact"();
