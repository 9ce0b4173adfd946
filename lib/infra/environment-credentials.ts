/**
 * What the bundles hold in the place of the SDK's credential chain (130 KB of profiles, single sign-on and metadata
 * services, which every cold start would load): a function's credentials are always in its environment (AWS Lambda,
 * Defined runtime variables).
 */
export const defaultProvider = () => async () => {
  const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN } = process.env;
  if (!AWS_ACCESS_KEY_ID || !AWS_SECRET_ACCESS_KEY) {
    throw new Error("the function's environment holds no AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY");
  }
  const credentials = { accessKeyId: AWS_ACCESS_KEY_ID, secretAccessKey: AWS_SECRET_ACCESS_KEY };
  return AWS_SESSION_TOKEN ? { ...credentials, sessionToken: AWS_SESSION_TOKEN } : credentials;
};
