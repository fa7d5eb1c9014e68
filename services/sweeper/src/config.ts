import { commonEnvironment } from '@waybill/shared/config/environment';

export const sweeperEnvironment = commonEnvironment;
