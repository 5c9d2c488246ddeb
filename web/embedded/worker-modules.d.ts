// What the build (build.mjs) makes of the modules of workers: scripts as text.
declare module "worker:*" {
  const script: string;
  export default script;
}
