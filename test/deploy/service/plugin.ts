/** The plugin of a service must lie in its folder. */
export { FencepostPlugin as 'module.exports' } from '../../../infra/plugin/plugin.ts'
