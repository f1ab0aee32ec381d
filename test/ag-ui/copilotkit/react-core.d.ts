// It is installed by run.mjs, with 900 packages.
declare module '@copilotkit/react-core/v2'
