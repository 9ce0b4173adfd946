import { Failure } from "../model/failure.ts";

/** Salesforce's own domains, on which logins and instances of all orgs live (Salesforce, My Domain hostnames). */
const SALESFORCE = /(^|\.)(salesforce\.com|salesforce\.mil|crmforce\.mil|sfcrmproducts\.cn)$/;

/**
 * The origin that bearer tokens may go to: the login's own, or another of Salesforce's when the login is one of them.
 * Refuses an instance anywhere else, whatever a token endpoint says.
 */
export function provenInstance(loginUrl: string, instanceUrl: string): string {
  const login = new URL(loginUrl);
  const instance = URL.parse(instanceUrl);
  const isSame = instance?.origin === login.origin;
  const areSalesforce =
    instance?.protocol === "https:" && SALESFORCE.test(instance.hostname) && SALESFORCE.test(login.hostname);
  if (instance && (isSame || areSalesforce)) return instance.origin;
  const message = `${login.host} names an instance that is not Salesforce's: nothing is sent there`;
  throw new Failure("VALIDATION_ERROR", message, { details: [{ path: "body.login_url", message }] });
}
