/** Salesforce's own domains, on which logins and instances of all orgs live (Salesforce, My Domain hostnames). */
const SALESFORCE = /(^|\.)(salesforce\.com|salesforce\.mil|crmforce\.mil|sfcrmproducts\.cn)$/;

/**
 * The origin that bearer tokens may go to: the login's own, or another of Salesforce's when the login is one of them.
 * Null for an instance anywhere else, whatever a token endpoint says.
 */
export function orgOrigin(loginUrl: string, instanceUrl: string): string | null {
  const login = new URL(loginUrl);
  const instance = URL.parse(instanceUrl);
  const isSame = instance?.origin === login.origin;
  const areSalesforce =
    instance?.protocol === "https:" && SALESFORCE.test(instance.hostname) && SALESFORCE.test(login.hostname);
  return instance && (isSame || areSalesforce) ? instance.origin : null;
}

/** What to say of one anywhere else. */
export const foreignOrigin = (loginUrl: string): string =>
  `${new URL(loginUrl).host} names an instance that is not Salesforce's: nothing is sent there`;
