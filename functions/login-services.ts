/** Logs in to orgs that are to be connected. */
export { orgLogin } from "../lib/adapters/salesforce-login/log-in.ts";
